// Rotary frequencies of models whose context was made longer after training: linear (Chen et al.,
// "Position Interpolation", 2023), llama3 (Meta's Llama 3.1 release) and yarn (Peng et al., "YaRN",
// 2023), by the formulas of Hugging Face's modeling_rope_utils.py.
//
// Everything here is double precision on the host, with the logarithm and the exponential of
// rotary.h, so the tables are the same on every machine. Scalings that depend on the length of the
// text (dynamic, longrope) have no place here: a row's angles would change as the text grows, and
// rows that were kept would be wrong.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "numerics/rotary.h"

namespace engine::numerics {

enum class RotaryScaling { kNone, kLinear, kLlama3, kYarn };

// One rotary table of a model.
struct RotarySpec {
  std::size_t size = 0;      // leading dimensions of a head that are rotated; even
  bool interleaved = false;  // pairs are (2i, 2i + 1), in place of (i, i + size/2)
  double theta = 10000.0;    // frequency i before scaling: theta^(-2i / size)

  RotaryScaling scaling = RotaryScaling::kNone;
  double factor = 1;              // how much longer the context became
  double original_positions = 0;  // the context before; llama3 and yarn
  double low = 1, high = 4;       // llama3: low_freq_factor, high_freq_factor
  double fast = 32, slow = 1;     // yarn: beta_fast, beta_slow
  bool whole_dimensions = true;   // yarn: the ramp's ends are rounded outwards ("truncate")
  double attention_factor = 1;    // yarn: of every sine and cosine

  bool operator==(const RotarySpec&) const = default;
};

inline constexpr double kTwoPi = 6.283185307179586;

namespace detail {

// Long waves are stretched, short ones kept, between them a blend.
inline double llama3_frequency(const RotarySpec& spec, double frequency) {
  const double turns = spec.original_positions / (kTwoPi / frequency);
  if (turns < spec.low) return frequency / spec.factor;
  if (turns > spec.high) return frequency;
  const double kept = (turns - spec.low) / (spec.high - spec.low);
  return (1.0 - kept) * frequency / spec.factor + kept * frequency;
}

// The dimension whose wave turns `turns` times within the original context.
inline double yarn_dimension(const RotarySpec& spec, double turns) {
  return static_cast<double>(spec.size) * log(spec.original_positions / (turns * kTwoPi)) /
         (2.0 * log(spec.theta));
}

// 0 for a dimension that keeps its frequency, 1 for one that is stretched by the whole factor.
inline double yarn_ramp(const RotarySpec& spec, std::size_t i) {
  double low = yarn_dimension(spec, spec.fast), high = yarn_dimension(spec, spec.slow);
  if (spec.whole_dimensions) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(spec.size) - 1.0);
  if (low == high) high += 0.001;
  return std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
}

}  // namespace detail

// By what yarn multiplies sines and cosines when the configuration does not say.
inline double yarn_attention_factor(double factor, double mscale = 1) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * detail::log(factor) + 1.0;
}

// [size / 2]
inline std::vector<double> rotary_frequencies(const RotarySpec& spec) {
  std::vector<double> frequencies(spec.size / 2);
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double plain = inverse_frequency(spec.theta, i, spec.size);
    double& frequency = frequencies[i];
    switch (spec.scaling) {
      case RotaryScaling::kNone:
        frequency = plain;
        break;
      case RotaryScaling::kLinear:
        frequency = plain / spec.factor;
        break;
      case RotaryScaling::kLlama3:
        frequency = detail::llama3_frequency(spec, plain);
        break;
      case RotaryScaling::kYarn: {
        const double ramp = detail::yarn_ramp(spec, i);
        frequency = plain / spec.factor * ramp + plain * (1.0 - ramp);
        break;
      }
    }
  }
  return frequencies;
}

inline RotaryAngles rotary_angles(std::size_t positions, const RotarySpec& spec) {
  return rotary_angles(positions, rotary_frequencies(spec), spec.attention_factor);
}

}  // namespace engine::numerics
