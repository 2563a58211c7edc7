// One segment of attention in the decode order, for the common head sizes.
#pragma once

#include "kernels/cuda/attention/problem.cuh"
#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// Leaves each segment's m, l and O in problem.partial; without it there is one segment, and `out`
// is written.  REQUIRES: head_size is 64 or 128.
void attention_decode(const AttentionProblem& problem, cudaStream_t stream);

}  // namespace engine::kernels::cuda
