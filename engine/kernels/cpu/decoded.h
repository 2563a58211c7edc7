// The operands of the vector form of fused16: floats, with the exponents that choose the alignment
// beside them. fused16-inl.h makes and multiplies them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numerics/bf16.h"

namespace engine::kernels::cpu {

using numerics::bf16;

inline constexpr std::size_t kPanel = 32;  // outputs that are multiplied side by side
inline constexpr std::size_t kGroup = 16;  // inner elements of one fused16

// 16 inner elements of 32 outputs.
struct alignas(64) DecodedGroup {
  float values[kGroup][kPanel];
  std::int16_t exponents[kGroup][kPanel];
};

// 16 inner elements of one input row.
struct alignas(64) DecodedRow {
  float values[kGroup];
  std::int32_t
      exponents[kGroup];  // an int16 exponent twice, so that a 32-bit broadcast fills lanes
};

}  // namespace engine::kernels::cpu
