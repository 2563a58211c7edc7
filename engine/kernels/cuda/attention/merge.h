// The sum of a decode launch's segments.
#pragma once

#include "kernels/cuda/attention/problem.cuh"
#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// out from problem.partial, as numerics/attention.h has it.
void attention_merge(const AttentionProblem& problem, cudaStream_t stream);

}  // namespace engine::kernels::cuda
