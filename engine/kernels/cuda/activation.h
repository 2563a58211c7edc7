// silu(gate) * up: see Backend::silu_mul.
#pragma once

#include "kernels/cuda/driver.h"

namespace engine::kernels::cuda {

// gate_up [rows, 2 intermediate] to out [rows, intermediate].
void silu_mul(bf16* out, const float* gate_up, std::size_t rows, std::size_t intermediate,
              cudaStream_t stream);

}  // namespace engine::kernels::cuda
