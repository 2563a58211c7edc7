// Rotary on a head, or a part of one, by one warp: see RotaryTable and numerics/rotary.h.
#pragma once

#include "kernels/cuda/device/instructions.cuh"
#include "kernels/ops.h"
#include "numerics/rotary.h"

namespace engine::kernels::cuda {

// out[0, size): value(i), the first of them rotated, in bf16. All 32 lanes call it.
template <typename Value>
__device__ inline void write_rotated(bf16* out, unsigned size, std::size_t position,
                                     const RotaryTable& rotary, Value&& value) {
  const unsigned half = rotary.rotary_size / 2, lane = threadIdx.x % kWarp;
  const float* cosine = rotary.cosine + position * half;
  const float* sine = rotary.sine + position * half;
  for (unsigned i = lane; i < half; i += kWarp) {
    const unsigned first = rotary.interleaved ? 2 * i : i;
    const unsigned second = rotary.interleaved ? 2 * i + 1 : i + half;
    const numerics::RotatedPair pair =
        numerics::rotate(value(first), value(second), cosine[i], sine[i]);
    out[first] = round_bf16(pair.first);
    out[second] = round_bf16(pair.second);
  }
  for (unsigned i = 2 * half + lane; i < size; i += kWarp)
    out[i] = round_bf16(value(i));
}

}  // namespace engine::kernels::cuda
