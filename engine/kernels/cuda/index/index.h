// Which positions sparse attention reads: see Backend::choose and numerics/index.h.
#pragma once

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// Up to kIndexRows rows of one launch, at `position` and after it.
struct IndexProblem {
  std::int32_t* chosen;  // [rows, most]
  const bf16* keys;      // [slots, F]
  const bf16* query;     // [rows, J, F]
  const float* weights;  // [rows, J]
  float* scores;         // [rows, slots]
  unsigned slots, heads, size, most;
  unsigned rows, position;
  unsigned keys_end;   // no repetition of this launch has a row at this position or after it
  const int* advance;  // of the position, or null
};

// The scores of every position up to a row's own, of rows that leave something out.
// REQUIRES: F <= kMostIndexSize.
inline constexpr std::size_t kMostIndexSize = 128;
void index_scores(const IndexProblem& problem, cudaStream_t stream);

// The sets. Rows that leave nothing out need no scores.
void index_choose(const IndexProblem& problem, cudaStream_t stream);

// Backend::choose. Throws BackendError where F is above kMostIndexSize.
void choose(std::int32_t* chosen, const LatentRows& kept, const IndexShape& index,
            const ChooseArgs& args, std::size_t rows, const int* advance, cudaStream_t stream);

}  // namespace engine::kernels::cuda
