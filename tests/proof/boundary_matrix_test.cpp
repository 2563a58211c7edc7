// The boundary matrix for several grids: where reuse starts, ends or cannot be, each turn a cold
// run in rows, who wrote them, logits, tokens and the drafter's ring, with NaN in all that must not
// be read.
#include <gtest/gtest.h>

#include "case_name.h"
#include "proof/compared_lane.h"
#include "series/series_environment.h"

namespace engine::runtime::testing {
namespace {

// A preset and a grid.
struct Cells {
  const char* preset;
  std::size_t grid;
};

class BoundaryMatrix : public ::testing::TestWithParam<Cells> {
 protected:
  BoundaryMatrix() : defaults_(nullptr, nullptr) {}

  ProofModel& model() const { return shared_model(GetParam().preset); }
  std::size_t grid() const { return GetParam().grid; }
  ComparedLane lane() const {
    return ComparedLane(model(), {.grid = grid(),
                                  .longest_prompt = 2 * grid() + 20,
                                  .reply_room = 8,
                                  .spare_ring_rows = grid() + 64});
  }

  Environment defaults_;
};

// Two prompts that share exactly `common` tokens.
TEST_P(BoundaryMatrix, CommonPrefixAroundABoundary) {
  for (std::size_t common = grid() - 2; common <= grid() + 2; ++common) {
    ComparedLane lanes = lane();
    const std::vector<Token> shared = random_tokens(common, common);
    const std::vector<Token> a = joined(shared, joined({1}, random_tokens(9, 1)));
    const std::vector<Token> b = joined(shared, joined({2}, random_tokens(6, 2)));
    EXPECT_EQ(lanes.take(request_of(a, 3)), std::nullopt);
    EXPECT_EQ(lanes.take(request_of(b, 4)), std::nullopt) << common;
    EXPECT_EQ(lanes.latest().reply->stats.cached, common >= grid() ? grid() : 0) << common;
    EXPECT_EQ(lanes.latest().reply->stats.common_prefix, common);
  }
}

// Also the boundary of the canonical end: the reply of a prompt of G - 2 to G + 2 tokens crosses
// it.
TEST_P(BoundaryMatrix, ReplyThatCrossesABoundary) {
  for (std::size_t length = grid() - 2; length <= grid() + 2; ++length) {
    ComparedLane lanes = lane();
    EXPECT_EQ(lanes.take(request_of(random_tokens(length, length), 8)), std::nullopt);
    EXPECT_EQ(lanes.take(request_of(joined(lanes.text(), random_tokens(5, 3)), 3)), std::nullopt);
    EXPECT_EQ(lanes.latest().reply->stats.cached, length >= grid() ? grid() : 0) << length;
  }
}

TEST_P(BoundaryMatrix, ExactRepeatAndShorterPrompts) {
  ComparedLane lanes = lane();
  const std::vector<Token> longest = random_tokens(2 * grid() + 2, 4);
  for (const std::size_t length : {2 * grid() + 2, 2 * grid() + 2, 2 * grid() + 1, 2 * grid(),
                                   2 * grid(), grid() + 1, grid(), grid() - 1, std::size_t{1}}) {
    EXPECT_EQ(lanes.take(request_of(random_tokens(length, 4), 3)), std::nullopt) << length;
  }
  EXPECT_EQ(lanes.coverage().reused, 5u);
}

TEST_P(BoundaryMatrix, PromptsOfOneCellOneLessOneMoreAndOneToken) {
  for (const std::size_t length : {std::size_t{1}, grid() - 1, grid(), grid() + 1}) {
    ComparedLane lanes = lane();
    EXPECT_EQ(lanes.take(request_of(random_tokens(length, 5), 3)), std::nullopt);
    EXPECT_EQ(lanes.take(request_of(random_tokens(length, 5), 3)), std::nullopt);
    EXPECT_EQ(lanes.latest().reply->stats.cached, length == grid() + 1 ? grid() : 0);
    EXPECT_EQ(lanes.take(request_of(random_tokens(length + 1, 5), 3)), std::nullopt);
    EXPECT_EQ(lanes.latest().reply->stats.cached, length >= grid() ? grid() : 0);
  }
}

// Prompts that leave room for two tokens, one or none; the first token needs no row.
TEST_P(BoundaryMatrix, PromptsThatFillTheBuffer) {
  const std::size_t context = 2 * grid() + 3;
  for (const std::size_t left : {2u, 1u, 0u}) {
    ComparedLane lanes(model(), {.grid = grid(),
                                 .longest_prompt = context,
                                 .reply_room = 0,
                                 .spare_ring_rows = grid() + 64});
    EXPECT_EQ(lanes.take(request_of(random_tokens(grid() + 1, 6), 2)), std::nullopt);
    const Request request = request_of(random_tokens(context - left, 6), 20);
    EXPECT_EQ(lanes.take(request), std::nullopt) << left;
    EXPECT_EQ(lanes.latest().reply->finish, FinishReason::kContext);
    EXPECT_EQ(lanes.latest().reply->tokens.size(), left + 1);
    EXPECT_EQ(lanes.latest().reply->stats.cached, grid());
    EXPECT_EQ(lanes.take(request), std::nullopt) << left;
    EXPECT_EQ(lanes.latest().reply->stats.cached, (context - left - 1) / grid() * grid());
    Request over = request_of(random_tokens(context + 1, 6), 1);
    EXPECT_THROW((void)lanes.engine().run(over), RequestError);
    EXPECT_EQ(lanes.take(request), std::nullopt) << "after a refused prompt";
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, BoundaryMatrix,
                         ::testing::Values(Cells{"micro", 16}, Cells{"micro", 64},
                                           Cells{"micro", 512}, Cells{"glm4moe-mini", 16},
                                           Cells{"glm4moe-mini", 64}, Cells{"glm5-mini", 48},
                                           Cells{"glm5-mini", 64}),
                         [](const auto& test) {
                           return case_word(test.param.preset) + "_" +
                                  std::to_string(test.param.grid);
                         });

// A grid above every prompt: nothing fills a cell, so nothing is ever reused, and that is said.
TEST(BoundaryMatrixGridAbovePrompts, ReusesNothingAndSaysSo) {
  const Environment defaults(nullptr, nullptr);
  ComparedLane lane(shared_model(), {.grid = 250, .longest_prompt = 244});
  for (const std::size_t length : {200u, 200u, 244u, 100u, 1u}) {
    EXPECT_EQ(lane.take(request_of(random_tokens(length, 7), 4)), std::nullopt) << length;
    EXPECT_EQ(lane.latest().reply->stats.cached, 0u);
  }
  EXPECT_EQ(lane.take(request_of(random_tokens(1, 7), 1)), std::nullopt);
  EXPECT_EQ(lane.take(request_of(random_tokens(90, 7), 1)), std::nullopt);
  EXPECT_EQ(lane.latest().reply->stats.reuse_bound, "grid");
}

}  // namespace
}  // namespace engine::runtime::testing
