// Matrix products in split_k slices of fused16 chains: see Backend::matmul.
#pragma once

#include "kernels/cpu/matrix.h"

namespace engine::kernels::cpu {

struct MatmulArgs {
  float* out;     // [R, N]
  const bf16* x;  // [R, K]
  const PanelMatrix& w;
  const bf16* bias;  // [N], or null
  std::size_t rows;
  std::size_t split;  // divides K into multiples of 16
  bool accumulate;
};

void matmul(const MatmulArgs& args, Threads& threads);

}  // namespace engine::kernels::cpu
