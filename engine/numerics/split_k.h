// How many slices the inner dimension of a matrix product is cut into. The only choice about a
// product that changes its bits, hence one pure integer function for every backend.
//
// Few output tiles leave most of the card idle, so K is cut until the slices fill it. That ties the
// bits of a row to the number of rows of its launch, and is why a prefix cache needs chunks that
// depend on position alone.
#pragma once

#include <cstddef>

#include "numerics/bits.h"

namespace engine::numerics {

inline constexpr std::size_t kDecodeRows = 8;  // up to here one split serves every row count

// A power of two in [1, 16] that divides K into multiples of 16.  REQUIRES: K % 16 == 0; all >= 1.
ENGINE_HD inline std::size_t split_k(std::size_t rows, std::size_t N, std::size_t K) {
  // Decode class: 1 to 8 rows fit one skinny tile, and verifying four drafted tokens at once must
  // give the bits of four single steps.
  if (rows < kDecodeRows) rows = kDecodeRows;
  // Fill the chip's 132 multiprocessors twice over with tiles of 128 x 128 outputs.
  const std::size_t occupancy = 264 / (((rows + 127) / 128) * ((N + 127) / 128));
  // Writing and reading back rows * N partial sums must stay small against the product's own
  // rows * N * K work per slice.
  const std::size_t merge = 3 * K / (4 * rows);
  // At least 64 inner elements a slice: one stage of a pipeline.
  const std::size_t slice = K / 64;

  std::size_t bound = 16;
  if (occupancy < bound) bound = occupancy;
  if (merge < bound) bound = merge;
  if (slice < bound) bound = slice;
  std::size_t split = 1;
  while (split * 2 <= bound)
    split *= 2;
  while (K % (16 * split) != 0)
    split /= 2;
  return split;
}

// The split of row-invariant mode: decode's for every row count.
ENGINE_HD inline std::size_t split_k_row_invariant(std::size_t N, std::size_t K) {
  return split_k(kDecodeRows, N, K);
}

}  // namespace engine::numerics
