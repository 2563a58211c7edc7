// bfloat16: the upper half of an IEEE float32.
#pragma once

#include <cstdint>

#include "numerics/bits.h"

namespace engine::numerics {

struct bf16 {
  std::uint16_t bits;
};

// Exact.
ENGINE_HD inline float to_float(bf16 x) {
  return bits_float(static_cast<std::uint32_t>(x.bits) << 16);
}

// Round to nearest, ties to even; beyond the largest bf16 becomes infinity, denormals stay. Every
// NaN becomes 0x7fff, as the card's cvt.rn.bf16.f32 does.
ENGINE_HD inline bf16 from_float(float x) {
  const std::uint32_t bits = float_bits(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  const std::uint32_t round = 0x7fffu + ((bits >> 16) & 1u);
  return {static_cast<std::uint16_t>((bits + round) >> 16)};
}

}  // namespace engine::numerics
