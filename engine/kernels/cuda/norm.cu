#include "kernels/cuda/device.cuh"
#include "kernels/cuda/norm.h"
#include "kernels/cuda/reduce.cuh"

namespace engine::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;

// ---- Kernels

// One block a row. All threads fetch the row; one warp adds it up, since the order is that of 32
// lanes; all threads write.
__global__ void __launch_bounds__(kThreads) rms_norm_kernel(const NormArgs args) {
  extern __shared__ float row[];  // [H]
  __shared__ float scale;
  let_next_begin();
  wait_for_previous();
  const float* x = args.x + blockIdx.x * args.hidden;
  const auto* pieces = reinterpret_cast<const float4*>(x);  // H is a multiple of 16
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < args.hidden / 4; i += kThreads)
    reinterpret_cast<float4*>(row)[i] = pieces[i];
  __syncthreads();
  if (threadIdx.x < kWarp) {
    const float sum = warp_square_sum(row, args.hidden);
    if (threadIdx.x == 0) scale = numerics::rms_scale(sum, args.hidden, args.epsilon);
  }
  __syncthreads();
  bf16* out = args.out + blockIdx.x * args.out_stride;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < args.hidden / 4; i += kThreads) {
    const float4 v = reinterpret_cast<const float4*>(row)[i];
    const uint2 packed = reinterpret_cast<const uint2*>(args.w)[i];
    const auto* w = reinterpret_cast<const bf16*>(&packed);
    reinterpret_cast<uint2*>(out)[i] = {
        round_bf16x2(numerics::rms_apply(v.x, scale, w[0]), numerics::rms_apply(v.y, scale, w[1])),
        round_bf16x2(numerics::rms_apply(v.z, scale, w[2]), numerics::rms_apply(v.w, scale, w[3]))};
  }
}

}  // namespace

// ---- Launchers

void rms_norm(const NormArgs& args, cudaStream_t stream) {
  constexpr std::size_t kLargest = 200 * 1024;
  static const bool allowed = allow_large_launches(rms_norm_kernel, kLargest);
  static_cast<void>(allowed);
  launch(stream,
         {.grid = dim3(static_cast<unsigned>(args.rows)),
          .threads = kThreads,
          .shared_bytes = args.hidden * sizeof(float)},
         rms_norm_kernel, args);
}

}  // namespace engine::kernels::cuda
