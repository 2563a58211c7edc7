// Attention for any head size up to 256, in either order, of capped scores as well.
#pragma once

#include "kernels/cuda/attention/problem.cuh"
#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// problem.partial as in decode.h. Throws BackendError for heads of more than 256 elements.
void attention_general(const AttentionProblem& problem, cudaStream_t stream);

}  // namespace engine::kernels::cuda
