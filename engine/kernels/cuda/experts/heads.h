// Products of each head's own matrix: see Backend::matmul_heads.
#pragma once

#include "kernels/cuda/experts/experts.h"

namespace engine::kernels::cuda {

struct HeadsArgs {
  bf16* out;
  std::size_t out_stride;
  const bf16* x;
  std::size_t x_stride;
  const DeviceExperts& w;
  std::size_t rows;
};
void matmul_heads(const HeadsArgs& args, cudaStream_t stream);

}  // namespace engine::kernels::cuda
