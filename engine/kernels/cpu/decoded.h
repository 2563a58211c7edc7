// The operands of the vector form of fused16: floats, with the exponents that choose the alignment
// beside them. decode-inl.h makes them, fused16-inl.h multiplies them.
//
// An exponent is a byte: that of a normal number as it is, -126 of a denormal, kZeroExponent of a
// zero; a weight's is one less, unless it is a zero's. Sums of two are taken with saturation, so a
// term that is zero stays below -100 as long as both operands are plain: no infinity, no NaN, and
// below 2^26 in magnitude. Two inner elements, k and k + 1, lie side by side in 16 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numerics/bf16.h"

namespace engine::kernels::cpu {

using numerics::bf16;

inline constexpr std::size_t kPanel = 32;  // outputs that are multiplied side by side
inline constexpr std::size_t kGroup = 16;  // inner elements of one fused16

inline constexpr std::int8_t kZeroExponent = -128;
inline constexpr std::uint16_t kPlainBits = (127 + 26) << 7;  // magnitudes below are plain

// 16 inner elements of 32 outputs.
struct alignas(64) DecodedGroup {
  float values[kGroup][kPanel];
  // Of each pair of elements, in 32 bits: output n's in the lower half, n + L's in the upper, where
  // L is the number of a vector's floats. n runs over the first L outputs of each 2 L.
  std::uint32_t exponents[kGroup / 2][kPanel / 2];
  bool plain;  // all 512
};

// 16 inner elements of one input row.
struct alignas(64) DecodedRow {
  float values[kGroup];
  std::uint32_t exponents[kGroup / 2];  // each pair twice
  bool plain;                           // all 16
};

}  // namespace engine::kernels::cpu
