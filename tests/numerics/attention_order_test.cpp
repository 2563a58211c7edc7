// The reference of attention's two orders against exact softmax, and the parts of their definition
// that backends lean on.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "numerics/attention.h"

namespace engine::numerics {
namespace {

constexpr std::size_t D = 32;

struct Keys {
  explicit Keys(std::size_t count, float deviation = 1.0f) : query(D), k(count * D), v(count * D) {
    std::mt19937 random(static_cast<unsigned>(count));
    std::normal_distribution<float> normal(0.0f, deviation);
    for (auto* values : {&query, &k, &v}) {
      for (bf16& x : *values)
        x = from_float(normal(random));
    }
  }
  AttentionRow row(std::size_t begin, std::size_t end) const {
    return {query.data(), k.data(), v.data(), D, k.size() / D, D, begin, end, {score_scale(D)}};
  }
  std::vector<bf16> query, k, v;
};

std::vector<double> exact(const AttentionRow& row) {
  std::vector<double> out(D, 0.0);
  double sum = 0.0;
  for (std::size_t p = row.begin; p < row.end; ++p) {
    double score = 0.0;
    for (std::size_t d = 0; d < D; ++d) {
      score += static_cast<double>(to_float(row.query[d])) * to_float(row.k[p * D + d]);
    }
    const double weight = std::exp(score / std::sqrt(static_cast<double>(D)));
    sum += weight;
    for (std::size_t d = 0; d < D; ++d)
      out[d] += weight * to_float(row.v[p * D + d]);
  }
  for (double& x : out)
    x /= sum;
  return out;
}

// A set's keys, with values that are the first part of each key's row.
TEST(AttentionOrder, SetsApproximateSoftmaxOverTheirPositions) {
  const Keys keys(900);
  std::vector<std::int32_t> chosen;
  for (std::int32_t p = 3; p < 900; p += 1 + p % 4)
    chosen.push_back(p);
  constexpr std::size_t kValue = D / 2;
  AttentionRow row = keys.row(0, chosen.size());
  row.v = row.k, row.value_size = kValue, row.chosen = chosen.data();
  std::vector<double> truth(kValue, 0.0);
  double sum = 0.0;
  for (const std::int32_t p : chosen) {
    const bf16* key = row.k + static_cast<std::size_t>(p) * D;
    double score = 0.0;
    for (std::size_t d = 0; d < D; ++d)
      score += static_cast<double>(to_float(row.query[d])) * to_float(key[d]);
    const double weight = std::exp(score / std::sqrt(static_cast<double>(D)));
    sum += weight;
    for (std::size_t d = 0; d < kValue; ++d)
      truth[d] += weight * to_float(key[d]);
  }
  for (const auto order : {attention_prefill_order, attention_decode_order}) {
    bf16 out[kValue];
    order(out, row);
    for (std::size_t d = 0; d < kValue; ++d)
      EXPECT_NEAR(to_float(out[d]), truth[d] / sum, 4 * 2 * 0x1p-9) << "column " << d;
  }
}

TEST(AttentionOrder, BothApproximateSoftmax) {
  const Keys keys(900);
  const std::pair<std::size_t, std::size_t> ranges[] = {
      {0, 1}, {0, 64}, {5, 300}, {0, 900}, {870, 900}};
  for (const auto& [begin, end] : ranges) {
    const AttentionRow row = keys.row(begin, end);
    const std::vector<double> truth = exact(row);
    for (const auto order : {attention_prefill_order, attention_decode_order}) {
      bf16 out[D];
      order(out, row);
      // p and the result are rounded to bf16 (2^-9 relative each); values are of size 1 to 4.
      for (std::size_t d = 0; d < D; ++d)
        ASSERT_NEAR(to_float(out[d]), truth[d], 4 * 2 * 0x1p-9);
    }
  }
}

TEST(AttentionOrder, EqualWithinOneSegment) {
  const Keys keys(256);
  bf16 prefill[D], decode[D];
  attention_prefill_order(prefill, keys.row(3, 256));
  attention_decode_order(decode, keys.row(3, 256));
  for (std::size_t d = 0; d < D; ++d)
    EXPECT_EQ(prefill[d].bits, decode[d].bits);
}

TEST(AttentionOrder, TilesWithoutAVisibleKeyChangeNothing) {
  const Keys keys(400);
  const AttentionRow row = keys.row(200, 250);
  SoftmaxState state(D);
  for (std::size_t tile = 0; tile < 192; tile += kTileKeys) {
    AttentionRow nothing = row;
    nothing.begin = nothing.end = tile;
    detail::attend_tile(state, nothing, tile);
  }
  EXPECT_EQ(state.maximum, kLowestScore);
  EXPECT_EQ(state.sum(), 0.0f);
  for (const float o : state.out)
    EXPECT_EQ(float_bits(o), 0u);
}

TEST(AttentionOrder, ZerosArePositive) {
  Keys keys(10);
  for (bf16& x : keys.v)
    x = from_float(-0.0f);
  bf16 out[D];
  attention_prefill_order(out, keys.row(0, 10));
  for (const bf16 x : out)
    EXPECT_EQ(x.bits, 0);
}

TEST(AttentionOrder, QuadLanesFollowTheAccumulatorFragment) {
  const std::size_t expected[] = {0, 0, 1, 1, 2, 2, 3, 3, 0, 0};
  for (std::size_t c = 0; c < 10; ++c)
    EXPECT_EQ(quad_lane(c), expected[c]);
}

TEST(AttentionOrder, VisibleKeys) {
  EXPECT_EQ(visible_begin(10, 0, 1000), 0u);
  EXPECT_EQ(visible_begin(10, 4, 1000), 4u);
  EXPECT_EQ(visible_begin(10, 4, 3), 8u);
  EXPECT_EQ(visible_begin(10, 9, 3), 9u);
  EXPECT_EQ(visible_begin(10, 0, 11), 0u);
  EXPECT_EQ(visible_begin(10, 0, 10), 1u);
}

}  // namespace
}  // namespace engine::numerics
