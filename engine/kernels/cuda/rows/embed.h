// Embedding rows: see Backend::embed.
#pragma once

#include <span>

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// The tokens travel as kernel parameters, so the caller's array is free on return.
void embed(float* out, const bf16* table, std::span<const Token> tokens, std::size_t hidden,
           float scale, cudaStream_t stream);

}  // namespace engine::kernels::cuda
