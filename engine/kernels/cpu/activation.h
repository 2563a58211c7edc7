// The gate of SwiGLU: see Backend::silu_mul.
#pragma once

#include "kernels/cpu/threads.h"
#include "kernels/ops.h"

namespace engine::kernels::cpu {

void silu_mul(bf16* out, const float* gate_up, std::size_t rows, std::size_t intermediate,
              Threads& threads);

}  // namespace engine::kernels::cpu
