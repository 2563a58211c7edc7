// The project's own exponentials: the same bits on every machine, because nothing but float32 adds,
// multiplies, fma and integer operations on the bits takes part.
//
// Method (Cody and Waite, "Software Manual for the Elementary Functions", 1980): split x into
// n * ln2 + r with |r| <= ln2 / 2, take a minimax polynomial for the reduced part (Remez, relative
// error, constant term fixed at 1) and add n to the exponent field.
#pragma once

#include "numerics/bits.h"

namespace engine::numerics {

namespace detail {

// 1.5 * 2^23: adding it rounds to an integer, which then stands in the low bits.
inline constexpr float kRoundToInt = 12582912.0f;

ENGINE_HD inline float add_to_exponent(float p, float rounded) {
  return bits_float(float_bits(p) + (float_bits(rounded) << 23));
}

}  // namespace detail

// e^x, relative error below 2e-7 on [-87, 88]. Defined ends: 0 below -87, +inf above 88. NaN stays.
ENGINE_HD inline float exp(float x) {
  if (x < -87.0f) return 0.0f;
  if (x > 88.0f) return bits_float(0x7f800000u);
  if (x != x) return x;
  const float rounded = fma(x, 0x1.715476p+0f, detail::kRoundToInt);
  const float n = rounded - detail::kRoundToInt;
  float r = fma(n, -0x1.63p-1f, x);  // ln2, upper 9 bits: n * upper is exact
  r = fma(n, 0x1.bd0106p-13f, r);    // ln2, the rest
  float p = 0x1.0fa834p-7f;
  p = fma(p, r, 0x1.573a54p-5f);
  p = fma(p, r, 0x1.555a6ap-3f);
  p = fma(p, r, 0x1.fffdc6p-2f);
  p = fma(p, r, 0x1.fffff6p-1f);
  p = fma(p, r, 1.0f);
  return detail::add_to_exponent(p, rounded);
}

// softmax_exp2 of a t that is not below -127.
ENGINE_HD inline float softmax_exp2_of_clamped(float t) {
  const float rounded = t + detail::kRoundToInt;
  const float r = t - (rounded - detail::kRoundToInt);
  float p = 0x1.3a02ccp-7f;
  p = fma(p, r, 0x1.c9fc46p-5f);
  p = fma(p, r, 0x1.ec0378p-3f);
  p = fma(p, r, 0x1.62e12cp-1f);
  p = fma(p, r, 1.0f);
  return detail::add_to_exponent(p, rounded);
}

// 2^t for softmax, t <= 1: relative error below 4e-6 on [-126, 1], far below the bf16 rounding that
// follows, and short because a prefill spends as much time here as in its matrix products.
// exp2(0) = 1. Below -126 the result falls to exactly +0, reached at -127 and kept from there on.
ENGINE_HD inline float softmax_exp2(float t) {
  return softmax_exp2_of_clamped(t < -127.0f ? -127.0f : t);
}

// x * sigmoid(x).
ENGINE_HD inline float silu(float x) {
  return x / (1.0f + exp(-x));
}

}  // namespace engine::numerics
