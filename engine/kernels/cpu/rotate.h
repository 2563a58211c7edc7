// Rotary on one head in float32: see RotaryTable and numerics/rotary.h.
#pragma once

#include "kernels/ops.h"
#include "numerics/rotary.h"

namespace engine::kernels::cpu {

// head: at least rotary_size elements, of which the first rotary_size are rotated.
inline void rotate_head(float* head, std::size_t position, const RotaryTable& rotary) {
  const std::size_t half = rotary.rotary_size / 2;
  for (std::size_t i = 0; i < half; ++i) {
    float& first = head[rotary.interleaved ? 2 * i : i];
    float& second = head[rotary.interleaved ? 2 * i + 1 : i + half];
    const numerics::RotatedPair pair = numerics::rotate(
        first, second, rotary.cosine[position * half + i], rotary.sine[position * half + i]);
    first = pair.first;
    second = pair.second;
  }
}

}  // namespace engine::kernels::cpu
