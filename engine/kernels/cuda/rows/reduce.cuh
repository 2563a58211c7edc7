// Sums over a row by one warp, in the order of numerics/reduce.h.
#pragma once

#include "kernels/cuda/device/instructions.cuh"
#include "numerics/norm.h"

namespace engine::kernels::cuda {

// Adds the lanes by the xor tree, which leaves the sum in each.
__device__ inline float warp_tree(float sum) {
  for (unsigned half = kWarp / 2; half > 0; half /= 2)
    sum = sum + __shfl_xor_sync(~0u, sum, half);
  return sum;
}

// The same bits as numerics::square_sum, in every lane. All 32 lanes call it.
__device__ inline float warp_square_sum(const float* x, std::size_t n) {
  const unsigned lane = threadIdx.x % kWarp;
  float sum = 0.0f;
  unsigned i = lane;
  // Many loads under way at once: only the sums have to wait for each other.
  constexpr unsigned kBatch = 32;
  for (; i + (kBatch - 1) * kWarp < n; i += kBatch * kWarp) {
    float batch[kBatch];
#pragma unroll
    for (unsigned j = 0; j < kBatch; ++j)
      batch[j] = x[i + j * kWarp];
#pragma unroll
    for (unsigned j = 0; j < kBatch; ++j)
      sum = numerics::fma(batch[j], batch[j], sum);
  }
  for (; i < n; i += kWarp)
    sum = numerics::fma(x[i], x[i], sum);
  return warp_tree(sum);
}

// The same bits as numerics::row_statistics, in every lane. All 32 lanes call it.
template <numerics::NormKind kKind>
__device__ inline numerics::RowStatistics warp_statistics(const float* x, std::size_t n,
                                                          float epsilon) {
  using numerics::NormKind;
  if constexpr (kKind == NormKind::kNone) return {0.0f, 1.0f};
  if constexpr (kKind != NormKind::kLayer)
    return {0.0f, numerics::rms_scale(warp_square_sum(x, n), n, epsilon)};
  float sum = 0.0f, squares = 0.0f;
  for (std::size_t i = threadIdx.x % kWarp; i < n; i += kWarp)
    sum = sum + x[i];
  const float mean = warp_tree(sum) / static_cast<float>(n);
  for (std::size_t i = threadIdx.x % kWarp; i < n; i += kWarp)
    squares = numerics::fma(x[i] - mean, x[i] - mean, squares);
  return {mean, numerics::rms_scale(warp_tree(squares), n, epsilon)};
}

}  // namespace engine::kernels::cuda
