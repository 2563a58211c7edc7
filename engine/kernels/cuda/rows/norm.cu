#include "kernels/cuda/device/instructions.cuh"
#include "kernels/cuda/rows/norm.h"
#include "kernels/cuda/rows/reduce.cuh"

namespace engine::kernels::cuda {
namespace {

using numerics::NormKind;
using numerics::RowStatistics;

constexpr unsigned kThreads = 256;

// ---- Kernels

// Four neighbouring weights or biases.
struct alignas(8) Four {
  bf16 values[4];
};

template <NormKind kKind>
struct Weights {
  Four weight, bias;
};

template <NormKind kKind>
__device__ Weights<kKind> load_weights(const Norm& norm, unsigned at) {
  Weights<kKind> w{};
  if constexpr (kKind != NormKind::kNone)
    w.weight = *reinterpret_cast<const Four*>(norm.weight + at);
  if constexpr (kKind == NormKind::kLayer) w.bias = *reinterpret_cast<const Four*>(norm.bias + at);
  return w;
}

template <NormKind kKind>
__device__ float4 normed(const float4& v, const Weights<kKind>& w, const RowStatistics& row) {
  const auto one = [&](float x, unsigned i) {
    return numerics::norm_apply<kKind>(x, row, w.weight.values[i], w.bias.values[i]);
  };
  return {one(v.x, 0), one(v.y, 1), one(v.z, 2), one(v.w, 3)};
}

__device__ void store_rounded(bf16* out, const float4& v) {
  *reinterpret_cast<uint2*>(out) = {round_bf16x2(v.x, v.y), round_bf16x2(v.z, v.w)};
}

// A row to shared memory by all threads; one warp adds it up, since the order is that of 32 lanes.
template <NormKind kKind>
__device__ RowStatistics load_row(float* row, const float* x, unsigned hidden, float epsilon) {
  __shared__ RowStatistics statistics;
  const auto* pieces = reinterpret_cast<const float4*>(x);  // H is a multiple of 16
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < hidden / 4; i += kThreads)
    reinterpret_cast<float4*>(row)[i] = pieces[i];
  __syncthreads();
  if (threadIdx.x < kWarp) {
    const RowStatistics mine = warp_statistics<kKind>(row, hidden, epsilon);
    if (threadIdx.x == 0) statistics = mine;
  }
  __syncthreads();
  return statistics;
}

// One block a row; all threads fetch it and write.
template <NormKind kKind>
__global__ void __launch_bounds__(kThreads) norm_kernel(const NormArgs args) {
  extern __shared__ float row[];  // [H]
  let_next_begin();
  wait_for_previous();
  const auto hidden = static_cast<unsigned>(args.hidden);
  const RowStatistics statistics =
      load_row<kKind>(row, args.x + blockIdx.x * args.hidden, hidden, args.norm.epsilon);
  bf16* out = args.out + blockIdx.x * args.out_stride;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < hidden / 4; i += kThreads) {
    store_rounded(out + 4 * i, normed<kKind>(reinterpret_cast<const float4*>(row)[i],
                                             load_weights<kKind>(args.norm, 4 * i), statistics));
  }
}

template <NormKind kKind>
__global__ void __launch_bounds__(kThreads) add_kernel(const AddArgs args) {
  extern __shared__ float row[];  // [H]
  let_next_begin();
  wait_for_previous();
  const auto hidden = static_cast<unsigned>(args.hidden);
  const RowStatistics statistics =
      load_row<kKind>(row, args.branch + blockIdx.x * args.hidden, hidden, args.norm.epsilon);
  auto* x = reinterpret_cast<float4*>(args.x + blockIdx.x * args.hidden);
  for (unsigned i = threadIdx.x; i < hidden / 4; i += kThreads) {
    const float4 v = normed<kKind>(reinterpret_cast<const float4*>(row)[i],
                                   load_weights<kKind>(args.norm, 4 * i), statistics);
    const float4 before = x[i];
    x[i] = {numerics::fma(v.x, args.scale, before.x), numerics::fma(v.y, args.scale, before.y),
            numerics::fma(v.z, args.scale, before.z), numerics::fma(v.w, args.scale, before.w)};
  }
}

// A decode step waits for its norms: few rows have more threads, which hold their elements and the
// weights in registers.
constexpr unsigned kManyThreads = 1024;
constexpr std::size_t kFewRows = 8;
constexpr std::size_t kLongestHeld = 2 * 4 * kManyThreads;  // elements of a row

template <NormKind kKind>
__global__ void __launch_bounds__(kManyThreads) norm_few_kernel(const NormArgs args) {
  extern __shared__ float row[];  // [H]
  __shared__ RowStatistics statistics;
  constexpr unsigned kPieces = kLongestHeld / 4 / kManyThreads;
  const float* x = args.x + blockIdx.x * args.hidden;
  Weights<kKind> w[kPieces];
  float4 v[kPieces];
  let_next_begin();
#pragma unroll
  for (unsigned i = 0; i < kPieces; ++i) {
    const unsigned at = 4 * (threadIdx.x + i * kManyThreads);
    if (at < args.hidden) w[i] = load_weights<kKind>(args.norm, at);
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
    const RowStatistics mine = warp_statistics<kKind>(row, args.hidden, args.norm.epsilon);
    if (threadIdx.x == 0) statistics = mine;
  }
  __syncthreads();
  bf16* out = args.out + blockIdx.x * args.out_stride;
#pragma unroll
  for (unsigned i = 0; i < kPieces; ++i) {
    const unsigned at = 4 * (threadIdx.x + i * kManyThreads);
    if (at < args.hidden) store_rounded(out + at, normed<kKind>(v[i], w[i], statistics));
  }
}

// One block a row, which it holds in shared memory.
template <typename Args, typename Kernel>
void launch_rows(const Args& args, unsigned threads, Kernel* kernel, cudaStream_t stream) {
  launch(stream,
         {.grid = dim3(static_cast<unsigned>(args.rows)),
          .threads = threads,
          .shared_bytes = args.hidden * sizeof(float)},
         kernel, args);
}

constexpr std::size_t kLargestRow = 200 * 1024;  // bytes

template <NormKind kKind>
void launch_norm(const NormArgs& args, cudaStream_t stream) {
  if (args.rows <= kFewRows && args.hidden <= kLongestHeld) {
    return launch_rows(args, kManyThreads, norm_few_kernel<kKind>, stream);
  }
  static const LargeLaunches allowed(norm_kernel<kKind>, kLargestRow);
  launch_rows(args, kThreads, norm_kernel<kKind>, stream);
}

template <NormKind kKind>
void launch_add(const AddArgs& args, cudaStream_t stream) {
  static const LargeLaunches allowed(add_kernel<kKind>, kLargestRow);
  launch_rows(args, kThreads, add_kernel<kKind>, stream);
}

}  // namespace

// ---- Launchers

void norm(const NormArgs& args, cudaStream_t stream) {
  switch (args.norm.kind) {
    case NormKind::kNone:
      return launch_norm<NormKind::kNone>(args, stream);
    case NormKind::kRms:
      return launch_norm<NormKind::kRms>(args, stream);
    case NormKind::kRmsPlusOne:
      return launch_norm<NormKind::kRmsPlusOne>(args, stream);
    case NormKind::kLayer:
      return launch_norm<NormKind::kLayer>(args, stream);
  }
}

void add(const AddArgs& args, cudaStream_t stream) {
  switch (args.norm.kind) {
    case NormKind::kNone:
      return launch_add<NormKind::kNone>(args, stream);
    case NormKind::kRms:
      return launch_add<NormKind::kRms>(args, stream);
    case NormKind::kRmsPlusOne:
      return launch_add<NormKind::kRmsPlusOne>(args, stream);
    case NormKind::kLayer:
      return launch_add<NormKind::kLayer>(args, stream);
  }
}

}  // namespace engine::kernels::cuda
