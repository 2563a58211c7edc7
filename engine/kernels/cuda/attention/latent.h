// Attention over kept latents, in either order, over all positions or over sets.
#pragma once

#include "kernels/cuda/attention/problem.cuh"
#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

inline constexpr unsigned kMostKey = 576;     // C + B
inline constexpr unsigned kMostLatent = 512;  // C

// problem.partial as in decode.h. Throws BackendError for wider keys or latents.
void attention_latent(const AttentionProblem& problem, cudaStream_t stream);

}  // namespace engine::kernels::cuda
