// Kept equals cold for every kind of layer: windows that end inside of a chunk, at its edge and
// outside of it, capped scores, norms after, two rotary tables, none.
#include <gtest/gtest.h>

#include "case_name.h"
#include "proof/cold_check.h"
#include "series/series_environment.h"

namespace engine::runtime::testing {
namespace {

class Families : public ::testing::TestWithParam<const char*> {
 protected:
  Families() : defaults_(nullptr, nullptr), model_(false, GetParam()) {}

  Engine make(std::size_t grid) {
    return Engine(model_.network, {.context = 440, .prompt_rows = grid, .log = {}});
  }

  // Turns of one text: extended twice, branched, cut short. Rows beyond those kept hold NaN.
  void converse(std::size_t grid) {
    Engine lane = make(grid);
    const std::vector<Token> text = random_tokens(420, 9);
    const auto first = [&](std::size_t n) { return std::vector(text.begin(), text.begin() + n); };
    const std::vector<Token> prompts[] = {first(150), first(290), first(401),
                                          joined(first(200), random_tokens(90, 5)), first(201)};
    const std::size_t expected[] = {0, 150, 290, 200, 200};
    for (std::size_t i = 0; i < std::size(prompts); ++i) {
      const std::size_t kept = expected[i] / grid * grid;
      poison_all_but(lane, kept, {0, 0});
      const Request request = request_of(prompts[i], 7, 0);
      const Reply reply = lane.run(request);
      Engine cold = make(grid);
      const Reply truth = cold.run(request);
      EXPECT_EQ(reply.stats.cached, kept) << "turn " << i;
      EXPECT_EQ(reply.tokens, truth.tokens) << "turn " << i;
      EXPECT_EQ(reply.logits, truth.logits) << "turn " << i;
      EXPECT_EQ(row_difference(lane, cold, prompts[i].size() + 6), std::nullopt) << "turn " << i;
    }
  }

  Environment defaults_;
  ProofModel model_;
};

TEST_P(Families, KeptEqualsCold) {
  for (const std::size_t grid : {16u, 64u, 100u})
    converse(grid);
}

INSTANTIATE_TEST_SUITE_P(Presets, Families,
                         ::testing::Values("mistral", "smollm3", "phi3", "qwen3", "olmo2",
                                           "granite", "gemma2", "gemma3", "glm4", "starcoder2",
                                           "glm4moe-mini", "glm5-mini", "qwen3-moe", "mixtral"),
                         [](const auto& test) { return case_word(test.param); });

}  // namespace
}  // namespace engine::runtime::testing
