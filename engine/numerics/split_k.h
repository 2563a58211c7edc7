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

namespace detail {

ENGINE_HD inline bool split_pays(std::size_t split, std::size_t rows, std::size_t N,
                                 std::size_t K) {
  // Tiles of 128 x 128 outputs; the slices of all of them should fill the chip's 132
  // multiprocessors twice over, and more would only wait.
  const std::size_t tiles = (rows + 127) / 128 * ((N + 127) / 128);
  const bool occupancy = split * tiles <= 2 * 132;
  // Writing and reading back split * rows * N partial sums must stay small against reading the
  // K * N weights once.
  const bool merge = 4 * split * rows <= 3 * K;
  // At least 64 inner elements a slice: one stage of a pipeline.
  const bool slice = 64 * split <= K;
  return split <= 16 && occupancy && merge && slice;
}

}  // namespace detail

// A power of two in [1, 16] that divides K into multiples of 16.  REQUIRES: K % 16 == 0; all >= 1.
ENGINE_HD inline std::size_t split_k(std::size_t rows, std::size_t N, std::size_t K) {
  // Decode class: 1 to 8 rows fit one skinny tile, and verifying four drafted tokens at once must
  // give the bits of four single steps.
  if (rows < kDecodeRows) rows = kDecodeRows;
  std::size_t split = 1;
  while (detail::split_pays(2 * split, rows, N, K))
    split *= 2;
  while (split > 1 && K % (16 * split) != 0)
    split /= 2;
  return split;
}

// The split of row-invariant mode: decode's for every row count.
ENGINE_HD inline std::size_t split_k_row_invariant(std::size_t N, std::size_t K) {
  return split_k(kDecodeRows, N, K);
}

}  // namespace engine::numerics
