// The MLP's nonlinearity and the logits': see Backend::activate and scale_logits.
#pragma once

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// x [rows, 2 intermediate], or [rows, intermediate] without a gate, to out [rows, intermediate].
void activate(bf16* out, const float* x, std::size_t rows, std::size_t intermediate,
              numerics::Activation activation, cudaStream_t stream);

void scale_logits(float* logits, std::size_t count, float divisor, float cap, cudaStream_t stream);

}  // namespace engine::kernels::cuda
