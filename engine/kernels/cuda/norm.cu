#include "kernels/cuda/device.cuh"
#include "kernels/cuda/norm.h"
#include "kernels/cuda/reduce.cuh"

namespace engine::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;

// ---- Kernels

__device__ void store_normed(bf16* out, const float4& v, const uint2& packed, float scale) {
  const auto* w = reinterpret_cast<const bf16*>(&packed);
  *reinterpret_cast<uint2*>(out) = {
      round_bf16x2(numerics::rms_apply(v.x, scale, w[0]), numerics::rms_apply(v.y, scale, w[1])),
      round_bf16x2(numerics::rms_apply(v.z, scale, w[2]), numerics::rms_apply(v.w, scale, w[3]))};
}

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
    store_normed(out + 4 * i, reinterpret_cast<const float4*>(row)[i],
                 reinterpret_cast<const uint2*>(args.w)[i], scale);
  }
}

// A decode step waits for its norms: few rows have more threads, which hold their elements and the
// weights in registers.
constexpr unsigned kManyThreads = 1024;
constexpr std::size_t kFewRows = 8;
constexpr std::size_t kLongestHeld = 2 * 4 * kManyThreads;  // elements of a row

__global__ void __launch_bounds__(kManyThreads) rms_norm_few_kernel(const NormArgs args) {
  extern __shared__ float row[];  // [H]
  __shared__ float scale;
  constexpr unsigned kPieces = kLongestHeld / 4 / kManyThreads;
  const float* x = args.x + blockIdx.x * args.hidden;
  uint2 w[kPieces];
  float4 v[kPieces];
  let_next_begin();
#pragma unroll
  for (unsigned i = 0; i < kPieces; ++i) {
    const unsigned at = 4 * (threadIdx.x + i * kManyThreads);
    if (at < args.hidden) w[i] = *reinterpret_cast<const uint2*>(args.w + at);
  }
  wait_for_previous();
#pragma unroll
  for (unsigned i = 0; i < kPieces; ++i) {
    const unsigned at = 4 * (threadIdx.x + i * kManyThreads);
    if (at < args.hidden)
      *reinterpret_cast<float4*>(row + at) = v[i] = *reinterpret_cast<const float4*>(x + at);
  }
  __syncthreads();
  if (threadIdx.x < kWarp) {
    const float sum = warp_square_sum(row, args.hidden);
    if (threadIdx.x == 0) scale = numerics::rms_scale(sum, args.hidden, args.epsilon);
  }
  __syncthreads();
  bf16* out = args.out + blockIdx.x * args.out_stride;
#pragma unroll
  for (unsigned i = 0; i < kPieces; ++i) {
    const unsigned at = 4 * (threadIdx.x + i * kManyThreads);
    if (at < args.hidden) store_normed(out + at, v[i], w[i], scale);
  }
}

}  // namespace

// ---- Launchers

void rms_norm(const NormArgs& args, cudaStream_t stream) {
  if (args.rows <= kFewRows && args.hidden <= kLongestHeld) {
    return launch(stream,
                  {.grid = dim3(static_cast<unsigned>(args.rows)),
                   .threads = kManyThreads,
                   .shared_bytes = args.hidden * sizeof(float)},
                  rms_norm_few_kernel, args);
  }
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
