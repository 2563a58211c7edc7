// What the norms of both backends are given: see Backend::norm, Backend::add and numerics/norm.h.
// Internal.
#pragma once

#include "kernels/ops.h"

namespace engine::kernels {

struct NormArgs {
  bf16* out;
  std::size_t out_stride;
  const float* x;  // [R, H]
  Norm norm;
  std::size_t rows, hidden;
};

struct AddArgs {
  float* x;             // [R, H]
  const float* branch;  // [R, H]
  Norm norm;
  float scale;
  std::size_t rows, hidden;
};

}  // namespace engine::kernels
