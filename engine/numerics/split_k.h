// How many slices the inner dimension of a matrix product is cut into. The only choice about a
// product that changes its bits, hence one pure integer function for every backend.
//
// Few output tiles leave most of the card idle, so K is cut until the slices fill it. That ties the
// bits of a row to the number of rows of its launch, and is why a prefix cache needs chunks that
// depend on position alone.
//
// The rule was read off these times: us a product on one H200, 2026-11-30, by
// tests/benchmarks/bench_split_k; * is what the rule gives. To change it is to change bits.
//
//   product      N x K         rows   split 1       2       4       8      16
//   qkv          6144 x 4096      1      17.7    26.1   14.1*    15.9    14.2
//                                64      26.5    22.3   20.4*    29.7    46.6
//                               128      45.3    33.2   26.0*    39.7    72.6
//                               256      50.9   35.4*    45.5    71.9   132.4
//                               512     52.4*    64.3    87.0   130.4   257.3
//   output       4096 x 4096      1      15.7    20.4    13.7   10.2*    11.6
//                                64      24.8    19.8   18.1*    26.3    34.8
//                               128      43.6    32.3   25.7*    35.4    54.3
//                               256      53.5   35.3*    42.4    56.3    97.8
//                               512      58.6   38.0*    66.7    98.9   189.0
//   gate_up     28672 x 4096      1     60.8*    61.4    64.6    59.6    58.4
//                                64     68.0*    69.7    81.2   112.1   195.4
//                               512    202.2*   246.4   351.2   550.9  1143.3
//   down         4096 x 14336     1      46.7    65.3    43.3   32.6*    32.0
//                                64      70.0    47.2   47.9*    50.1    61.4
//                               128     129.0    77.7   57.6*    66.2    83.5
//                               256     150.1   84.7*    93.1   101.5   147.1
//                               512     156.1  101.4*   156.2   179.0   283.3
//
// From 1,024 rows on, one slice is the fastest for all four.
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
  // Where the slices of many rows are added, by four multiprocessors and more together, blocks that
  // share one with another block wait longer than the smaller slices save.
  const bool addition = rows <= 32 || split <= 2 || 2 * split * tiles <= 3 * 132;
  // Writing and reading back split * rows * N partial sums must stay small against reading the
  // K * N weights once.
  const bool merge = 4 * split * rows <= 3 * K;
  // At least 64 inner elements a slice: one stage of a pipeline.
  const bool slice = 64 * split <= K;
  return split <= 16 && occupancy && addition && merge && slice;
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
