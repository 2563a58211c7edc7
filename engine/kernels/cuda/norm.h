// RMSNorm of rows: see Backend::rms_norm and numerics/reduce.h.
#pragma once

#include "kernels/cuda/driver.h"

namespace engine::kernels::cuda {

struct NormArgs {
  bf16* out;
  std::size_t out_stride;
  const float* x;  // [R, H]
  const bf16* w;   // [H]
  std::size_t rows, hidden;
  float epsilon;
};

void rms_norm(const NormArgs& args, cudaStream_t stream);

}  // namespace engine::kernels::cuda
