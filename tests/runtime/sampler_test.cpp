#include "runtime/sampler.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "numerics/philox.h"
#include "runtime/test_network.h"

namespace engine::runtime {
namespace {

using kernels::Token;

TEST(Greedy, TiesGoToTheLowestId) {
  kernels::Backend& backend = *testing::loaded().backend;
  const std::array<float, 8> logits{1, 3, 3, 2, -1, 0, 5, 5};  // two rows of four
  const std::vector<Choice> choices = choose_tokens(backend, logits.data(), 2, 4, 0, {});
  EXPECT_EQ(choices[0].token, 1);
  EXPECT_EQ(choices[0].top2.second, 2);
  EXPECT_EQ(choices[1].token, 2);
  EXPECT_EQ(choices[1].top2.second, 3);
}

TEST(Sampling, IsAFunctionOfSeedAndPosition) {
  const std::vector<float> logits{0.1f, 0.2f, 0.3f, 0.0f};
  const SamplingParams params{.temperature = 1, .top_k = 0, .top_p = 1, .seed = 7};
  bool varies = false;
  for (std::size_t position = 0; position < 64; ++position) {
    const Token token = sample_token(logits, position, params);
    EXPECT_EQ(token, sample_token(logits, position, params));
    varies |= token != sample_token(logits, 0, params);
  }
  EXPECT_TRUE(varies);
}

// Each token's frequency lies within four standard deviations of its probability.
TEST(Sampling, FollowsTheDistribution) {
  const std::vector<float> logits{0, 1, 2, -1};
  const SamplingParams params{.temperature = 0.7f, .top_k = 0, .top_p = 1, .seed = 3};
  constexpr int kDraws = 20000;
  std::map<Token, int> counts;
  for (int i = 0; i < kDraws; ++i)
    ++counts[sample_token(logits, static_cast<std::size_t>(i), params)];
  double total = 0;
  for (const float logit : logits)
    total += std::exp(logit / 0.7);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double p = std::exp(logits[i] / 0.7) / total;
    EXPECT_NEAR(counts[static_cast<Token>(i)], kDraws * p, 4 * std::sqrt(kDraws * p * (1 - p)))
        << "token " << i;
  }
}

TEST(Sampling, MinPDropsWhatIsUnlikely) {
  const std::vector<float> logits{0, 1, 2, 3};
  const SamplingParams params{.temperature = 1, .top_k = 0, .top_p = 1, .seed = 1, .min_p = 0.3f};
  std::map<Token, int> counts;
  for (std::size_t position = 0; position < 500; ++position)
    ++counts[sample_token(logits, position, params)];
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_GT(counts[2], 50);
}

TEST(ChooseTokens, ARuleSeesWhatComesBeforeEachRow) {
  kernels::Backend& backend = *testing::loaded().backend;
  const std::array<float, 8> logits{1, 3, 3, 2, -1, 0, 5, 5};  // two rows of four
  std::vector<std::vector<Token>> seen;
  SamplingParams params;
  params.rule = [&](std::span<const Token> reply, std::span<float> row) {
    seen.emplace_back(reply.begin(), reply.end());
    row[1] = row[2] = -INFINITY;
  };
  const std::array<Token, 3> reply{7, 8, 9};
  const std::vector<Choice> choices = choose_tokens(backend, logits.data(), 2, 4, 0, params, reply);
  EXPECT_EQ(seen, (std::vector<std::vector<Token>>{{7, 8}, {7, 8, 9}}));
  EXPECT_EQ(choices[0].token, 3);
  EXPECT_EQ(choices[1].token, 3);
  EXPECT_EQ(choices[1].top2.second, 1 - 1);
}

TEST(Sampling, TopKKeepsTheLargestAndTopPTheLikeliest) {
  const std::vector<float> logits{0, 1, 2, 3};
  for (std::size_t position = 0; position < 200; ++position) {
    EXPECT_GE(sample_token(logits, position, {.temperature = 5, .top_k = 2, .top_p = 1, .seed = 1}),
              2);
    EXPECT_EQ(
        sample_token(logits, position, {.temperature = 1, .top_k = 0, .top_p = 0.5f, .seed = 1}),
        3);
  }
}

}  // namespace
}  // namespace engine::runtime
