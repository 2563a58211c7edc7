// Which experts a row goes to, against the published rules in double precision and by hand.
#include "numerics/router.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace engine::numerics {
namespace {

struct Routed {
  std::vector<std::int32_t> experts;
  std::vector<float> weights;
};

Routed route(const std::vector<float>& logits, RouterRule rule,
             const std::vector<float>& bias = {}) {
  rule.experts = static_cast<std::uint32_t>(logits.size());
  Routed routed{std::vector<std::int32_t>(rule.chosen), std::vector<float>(rule.chosen)};
  route_row(routed.experts.data(), routed.weights.data(), logits.data(),
            bias.empty() ? nullptr : bias.data(), rule);
  return routed;
}

using Ids = std::vector<std::int32_t>;

TEST(Router, ChoosesTheBestAndListsThemAscending) {
  const RouterRule rule{.score = RouterScore::kSigmoid, .chosen = 3};
  EXPECT_EQ(route({0, 3, -1, 5, 2, 4}, rule).experts, (Ids{1, 3, 5}));
}

TEST(Router, TiesGoToTheLowerId) {
  const RouterRule rule{.score = RouterScore::kSoftmax, .chosen = 2};
  EXPECT_EQ(route({1, 2, 2, 2}, rule).experts, (Ids{1, 2}));
  EXPECT_EQ(route({0, -0.0f, 0, 5}, rule).experts, (Ids{0, 3}));
  // Scores tie where logits do not: the sigmoid is 1 from about 17 on.
  EXPECT_EQ(route({20, 30, 40, 50}, {.score = RouterScore::kSigmoid, .chosen = 2}).experts,
            (Ids{0, 1}));
}

TEST(Router, TheBiasChoosesAndDoesNotWeigh) {
  const RouterRule rule{.score = RouterScore::kSigmoid, .chosen = 1};
  const Routed routed = route({2, 1, 0}, rule, {0, 0, 5});
  EXPECT_EQ(routed.experts, Ids{2});
  EXPECT_EQ(routed.weights[0], 0.5f);
}

TEST(Router, GroupsAreKeptByTheSumOfTheirTwoBest) {
  const RouterRule rule{.score = RouterScore::kSigmoid, .chosen = 2, .groups = 3, .kept_groups = 1};
  // The best expert is alone in its group; the second group's two are better together.
  EXPECT_EQ(route({3, -9, -9, 2, 1.9f, -9, 1, 1, 1}, rule).experts, (Ids{3, 4}));
  // Of groups that tie the lower one stays, whatever its experts' order.
  EXPECT_EQ(route({-9, 1, 2, 2, -9, 1, 2, 1, 0}, rule).experts, (Ids{1, 2}));
  // What is outside of the kept groups is not chosen, even where everything inside is below zero.
  EXPECT_EQ(route({5, 5, 5, 0, 0, 0, 0, 0, 0}, rule, {-9, -9, -9, -2, -2, -2, -3, -3, -3}).experts,
            (Ids{3, 4}));
}

TEST(Router, NotANumberIsNeverBetterAndNeverOutOfRange) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const RouterRule rule{.score = RouterScore::kSigmoid, .chosen = 2};
  EXPECT_EQ(route({nan, -50, nan, -60}, rule).experts, (Ids{1, 3}));
  EXPECT_EQ(route({nan, nan, nan, nan}, rule).experts, (Ids{0, 1}));
}

TEST(Router, WeightsAreThoseOfDoublePrecision) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0f, 3.0f);
  for (const RouterScore score : {RouterScore::kSigmoid, RouterScore::kSoftmax}) {
    for (const bool normalised : {false, true}) {
      std::vector<float> logits(96);
      for (float& logit : logits)
        logit = normal(random);
      const Routed routed =
          route(logits, {.score = score, .chosen = 6, .normalised = normalised, .scale = 2.5f});
      double all = 0, sum = 0;
      for (const float logit : logits)
        all += std::exp(static_cast<double>(logit));
      std::vector<double> truth;
      for (const std::int32_t expert : routed.experts) {
        const double logit = logits[static_cast<std::size_t>(expert)];
        truth.push_back(score == RouterScore::kSigmoid ? 1 / (1 + std::exp(-logit))
                                                       : std::exp(logit) / all);
        sum += truth.back();
      }
      for (std::size_t t = 0; t < truth.size(); ++t) {
        const double expected = truth[t] / (normalised ? sum : 1) * 2.5;
        EXPECT_NEAR(routed.weights[t], expected, 2e-6 * expected);
      }
    }
  }
}

}  // namespace
}  // namespace engine::numerics
