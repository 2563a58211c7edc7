#include "patcher/text/align.h"

#include <algorithm>

namespace patcher {
namespace {

// best[i][j] is the best sum for the tails from i and j.
IndexPairs align_earliest(size_t n, size_t m, const std::function<float(size_t, size_t)>& score) {
  std::vector<float> gain(n * m);
  std::vector<float> best((n + 1) * (m + 1), 0.0F);
  const auto at = [&](size_t i, size_t j) -> float& { return best[i * (m + 1) + j]; };
  for (size_t i = n; i-- > 0;) {
    for (size_t j = m; j-- > 0;) {
      gain[i * m + j] = score(i, j);
      at(i, j) = std::max({at(i + 1, j), at(i, j + 1), at(i + 1, j + 1) + gain[i * m + j]});
    }
  }
  IndexPairs pairs;
  for (size_t i = 0, j = 0; i < n && j < m;) {
    if (gain[i * m + j] > 0 && at(i, j) == at(i + 1, j + 1) + gain[i * m + j]) {
      pairs.emplace_back(i++, j++);
    } else if (at(i, j) == at(i, j + 1)) {
      ++j;
    } else {
      ++i;
    }
  }
  return pairs;
}

}  // namespace

IndexPairs best_alignment(size_t n, size_t m, const std::function<float(size_t, size_t)>& score,
                          bool prefer_last) {
  if (n == 0 || m == 0 || n > kMaxAlignCells / m) return {};
  if (!prefer_last) return align_earliest(n, m, score);
  const auto mirrored = [&](size_t i, size_t j) { return score(n - 1 - i, m - 1 - j); };
  IndexPairs pairs = align_earliest(n, m, mirrored);
  for (auto& [i, j] : pairs) {
    i = n - 1 - i;
    j = m - 1 - j;
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace patcher
