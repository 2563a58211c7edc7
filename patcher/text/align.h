#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace patcher {

using IndexPairs = std::vector<std::pair<size_t, size_t>>;

// Sequence alignment of two lists of n and m things, in O(n m). Beyond kMaxAlignCells cells nothing
// is aligned: the caller then treats everything as changed, which costs nicety and not correctness.
inline constexpr size_t kMaxAlignCells = 4'000'000;

// Pairs (i, j) in order that maximise the sum of score(i, j); pairs of score 0 are left out. Of
// equal alignments the one with the latest pairs wins if prefer_last, else the one with the
// earliest.
IndexPairs best_alignment(size_t n, size_t m, const std::function<float(size_t, size_t)>& score,
                          bool prefer_last = false);

}  // namespace patcher
