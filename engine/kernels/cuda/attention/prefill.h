// Attention in the prefill order on wgmma, for the head sizes that fill its tiles.
#pragma once

#include "kernels/cuda/attention/problem.cuh"
#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// REQUIRES: head_size is 64 or 128; partial is null.
void attention_prefill(const AttentionProblem& problem, cudaStream_t stream);

}  // namespace engine::kernels::cuda
