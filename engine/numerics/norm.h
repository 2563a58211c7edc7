// The norms of a row x[n], w and b of bf16, sums in the order of reduce.h:
//
//   kNone         x
//   kRms          (x * s) * w                       s = 1 / sqrt(sum(x^2) / n + epsilon)
//   kRmsPlusOne   (x * s) * (1 + w)                 weights are stored as their distance from one
//   kLayer        fma((x - mean) * s, w, b)         mean = sum(x) / n, and s of x - mean
//
// Sources: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019; Ba et al., "Layer
// Normalization", 2016.
#pragma once

#include "numerics/reduce.h"

namespace engine::numerics {

enum class NormKind { kNone, kRms, kRmsPlusOne, kLayer };

struct RowStatistics {
  float mean;  // of kLayer; 0 for the others
  float scale;
};

// `bias` is read by kLayer only. Not rounded to bf16 yet.
template <NormKind kKind>
ENGINE_HD inline float norm_apply(float x, const RowStatistics& row, bf16 weight, bf16 bias) {
  if constexpr (kKind == NormKind::kNone) return x;
  if constexpr (kKind == NormKind::kRms) return rms_apply(x, row.scale, weight);
  if constexpr (kKind == NormKind::kRmsPlusOne) return (x * row.scale) * (1.0f + to_float(weight));
  return fma((x - row.mean) * row.scale, to_float(weight), to_float(bias));
}

// Of a row in memory, one lane after the other.
template <NormKind kKind>
ENGINE_HD inline RowStatistics row_statistics(const float* x, std::size_t n, float epsilon) {
  if constexpr (kKind == NormKind::kNone) return {0.0f, 1.0f};
  float mean = 0.0f;
  float lanes[kReduceLanes] = {};
  if constexpr (kKind == NormKind::kLayer) {
    for (std::size_t i = 0; i < n; ++i)
      lanes[i % kReduceLanes] = lanes[i % kReduceLanes] + x[i];
    mean = xor_tree(lanes, kReduceLanes) / static_cast<float>(n);
    for (float& lane : lanes)
      lane = 0.0f;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const float value = x[i] - mean;
    lanes[i % kReduceLanes] = fma(value, value, lanes[i % kReduceLanes]);
  }
  return {mean, rms_scale(xor_tree(lanes, kReduceLanes), n, epsilon)};
}

}  // namespace engine::numerics
