// The MLP's nonlinearity and the logits': see Backend::activate and scale_logits.
#pragma once

#include "kernels/cpu/threads.h"
#include "kernels/ops.h"

namespace engine::kernels::cpu {

void activate(bf16* out, const float* x, std::size_t rows, std::size_t intermediate,
              numerics::Activation activation, Threads& threads);

void scale_logits(float* logits, std::size_t count, float divisor, float cap, Threads& threads);

}  // namespace engine::kernels::cpu
