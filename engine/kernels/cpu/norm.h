// RMSNorm of rows: see Backend::rms_norm and numerics/reduce.h.
#pragma once

#include "kernels/cpu/threads.h"
#include "kernels/ops.h"

namespace engine::kernels::cpu {

struct NormArgs {
  bf16* out;
  std::size_t out_stride;
  const float* x;  // [R, H]
  const bf16* w;   // [H]
  std::size_t rows, hidden;
  float epsilon;
};

void rms_norm(const NormArgs& args, Threads& threads);

}  // namespace engine::kernels::cpu
