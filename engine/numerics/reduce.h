// The order of sums over a row, natural to a warp of 32 lanes.
//
// RMSNorm: lane l sums the squares of elements l, l+32, l+64, ... ascending with fma; the lanes are
// then added pairwise by an xor tree 16, 8, 4, 2, 1, which leaves the same bits in every lane.
#pragma once

#include <cstddef>

#include "numerics/bf16.h"

namespace engine::numerics {

inline constexpr int kReduceLanes = 32;

ENGINE_HD inline float lane_square_sum(const float* x, std::size_t n, int lane) {
  float sum = 0.0f;
  for (std::size_t i = lane; i < n; i += kReduceLanes)
    sum = fma(x[i], x[i], sum);
  return sum;
}

// Adds lanes[0, width) by the xor tree width/2, ..., 1.  REQUIRES: width is a power of two.
// Overwrites lanes.
ENGINE_HD inline float xor_tree(float* lanes, int width) {
  for (int half = width / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l)
      lanes[l] = lanes[l] + lanes[l + half];
  }
  return lanes[0];
}

ENGINE_HD inline float square_sum(const float* x, std::size_t n) {
  float lanes[kReduceLanes];
  for (int l = 0; l < kReduceLanes; ++l)
    lanes[l] = lane_square_sum(x, n, l);
  return xor_tree(lanes, kReduceLanes);
}

// 1 / sqrt(mean + epsilon), three IEEE operations.
ENGINE_HD inline float rms_scale(float square_sum, std::size_t n, float epsilon) {
  const float mean = square_sum / static_cast<float>(n);
#if defined(__CUDA_ARCH__)
  return __fdiv_rn(1.0f, __fsqrt_rn(mean + epsilon));
#else
  return 1.0f / std::sqrt(mean + epsilon);
#endif
}

// One normalised element: two products, not rounded to bf16 yet.
ENGINE_HD inline float rms_apply(float x, float scale, bf16 weight) {
  return (x * scale) * to_float(weight);
}

}  // namespace engine::numerics
