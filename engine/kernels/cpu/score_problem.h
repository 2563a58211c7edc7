// The index scores that a launch needs: see numerics/index.h.
#pragma once

#include "kernels/ops.h"

namespace engine::kernels::cpu {

// Rows that need scores, their own count: at most kIndexRows of one launch.
struct ScoreProblem {
  const LatentRows& kept;
  const IndexShape& index;
  const bf16* query;     // [rows, J, F]
  const float* weights;  // [rows, J]
  float* scores;         // [rows, slots]
  std::size_t position, rows;

  std::size_t end() const { return position + rows; }  // of the keys that the last row sees
};

}  // namespace engine::kernels::cpu
