// Norms of rows: see Backend::norm, Backend::add and numerics/norm.h.
#pragma once

#include "kernels/cpu/threads.h"
#include "kernels/ops.h"

namespace engine::kernels::cpu {

struct NormArgs {
  bf16* out;
  std::size_t out_stride;
  const float* x;  // [R, H]
  Norm norm;
  std::size_t rows, hidden;
};

void norm(const NormArgs& args, Threads& threads);

struct AddArgs {
  float* x;             // [R, H]
  const float* branch;  // [R, H]
  Norm norm;
  float scale;
  std::size_t rows, hidden;
};

void add(const AddArgs& args, Threads& threads);

}  // namespace engine::kernels::cpu
