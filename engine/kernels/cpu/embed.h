// Rows of the embedding table: see Backend::embed.
#pragma once

#include "kernels/ops.h"

namespace engine::kernels::cpu {

void embed(float* out, const bf16* table, std::span<const Token> tokens, std::size_t hidden,
           float scale);

}  // namespace engine::kernels::cpu
