// The choice of a whole model's indexer, made again from what the lane keeps: by the definition,
// with ties at its threshold, or the order of equals would be proven by nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "numerics/index.h"
#include "runtime/test_network.h"

namespace engine::runtime {
namespace {

using testing::loaded;
using testing::random_tokens;
using testing::request_of;
using testing::SmallEngine;

constexpr std::size_t kLastLayer = 5, kRows = 64, kEnd = 320;

template <typename T>
std::vector<T> downloaded(const void* from, std::size_t count) {
  std::vector<T> values(count);
  loaded("glm5-mini").network.backend().download(values.data(), from, count * sizeof(T));
  return values;
}

TEST(SparseAttention, ChoosesByTheKeptKeysWithTiesAtTheThreshold) {
  const model::LatentConfig& l = loaded("glm5-mini").network.config().latent;
  const std::size_t J = l.index_heads, F = l.index_size, most = l.choice;
  Engine engine = SmallEngine{.preset = "glm5-mini"}.make();
  (void)engine.run(request_of(random_tokens(kEnd, 5), 1, 0));
  const State& state = engine.lane().state;
  const auto keys = downloaded<kernels::bf16>(state.kept(kLastLayer)[1].data, kEnd * F);
  const auto query = downloaded<kernels::bf16>(state.scratch().index_query, kRows * J * F);
  const auto weights = downloaded<float>(state.scratch().index_weights, kRows * J);
  const auto chosen = downloaded<std::int32_t>(state.scratch().chosen, kRows * most);
  std::size_t ties = 0;
  for (std::size_t r = 0; r < kRows; ++r) {
    std::vector<float> scores;
    for (std::size_t s = 0; s < kEnd - kRows + r + 1; ++s) {
      scores.push_back(
          numerics::index_score(&query[r * J * F], &keys[s * F], &weights[r * J], J, F));
    }
    std::vector<std::int32_t> expected(most);
    numerics::choose_positions(expected.data(), scores.data(), scores.size(), most);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), &chosen[r * most])) << "row " << r;
    std::sort(scores.begin(), scores.end(), std::greater<>());
    ties += scores[most - 1] == scores[most];
  }
  EXPECT_GT(ties, kRows / 16);
  EXPECT_LT(ties, kRows);
}

}  // namespace
}  // namespace engine::runtime
