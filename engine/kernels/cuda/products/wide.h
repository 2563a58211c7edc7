// Matrix products of many rows, which cost what their multiplications cost.
#pragma once

#include "kernels/cuda/products/matmul.h"

namespace engine::kernels::cuda {

// False, and nothing done, for a shape that it does not pay for.
bool matmul_wide(const MatmulArgs& args, cudaStream_t stream);
bool matmul_wide_gated(const GatedArgs& args, cudaStream_t stream);

}  // namespace engine::kernels::cuda
