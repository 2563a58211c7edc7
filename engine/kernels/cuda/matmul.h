// Matrix products in split_k slices of fused16 chains: see Backend::matmul.
#pragma once

#include "kernels/cuda/matrix.h"

namespace engine::kernels::cuda {

struct MatmulArgs {
  float* out;     // [R, N]
  const bf16* x;  // [R, K]
  const DeviceMatrix& w;
  const bf16* bias;  // [N], or null
  std::size_t rows;
  std::size_t split;  // divides K into multiples of 16; a power of two, at most 16
  bool accumulate;
};

void matmul(const MatmulArgs& args, cudaStream_t stream);

}  // namespace engine::kernels::cuda
