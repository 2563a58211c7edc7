// Matrix products of few rows in several slices of K, which cost what reading their weights costs.
#pragma once

#include "kernels/cuda/products/matmul.h"

namespace engine::kernels::cuda {

inline constexpr std::size_t kSkinnyRows = 8;

// REQUIRES: args.rows <= kSkinnyRows; args.split <= 16.
void matmul_skinny(const MatmulArgs& args, cudaStream_t stream);

}  // namespace engine::kernels::cuda
