// Sums over a row by one warp, in the order of numerics/reduce.h.
#pragma once

#include "kernels/cuda/device.cuh"
#include "numerics/reduce.h"

namespace engine::kernels::cuda {

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
  for (unsigned half = kWarp / 2; half > 0; half /= 2)
    sum = sum + __shfl_xor_sync(~0u, sum, half);
  return sum;
}

}  // namespace engine::kernels::cuda
