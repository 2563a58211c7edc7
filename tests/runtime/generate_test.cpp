// The draft-verify-accept loop. Strict acceptance must not change a reply, however it was drafted.
#include "runtime/generate.h"

#include <gtest/gtest.h>

#include "runtime/poison.h"
#include "runtime/test_network.h"

namespace engine::runtime {
namespace {

using testing::random_tokens;
using testing::request_of;
using testing::SmallEngine;

// Everything that drafting must leave alone.
void expect_same_reply(const Reply& a, const Reply& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.logits, b.logits);
  EXPECT_EQ(a.finish, b.finish);
}

class StrictAcceptance : public ::testing::TestWithParam<std::size_t> {};

TEST_P(StrictAcceptance, EqualsNoDraftingGreedyAndSampled) {
  for (const float temperature : {0.0f, 0.9f}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      Request request = request_of(random_tokens(70 + seed, seed), 40, GetParam());
      request.params.sampling = {.temperature = temperature, .top_k = 0, .top_p = 1, .seed = seed};
      Engine drafting = SmallEngine{}.make(), plain = SmallEngine{}.make();
      const Reply drafted = drafting.run(request);
      request.params.draft_tokens = 0;
      expect_same_reply(drafted, plain.run(request));
      EXPECT_EQ(testing::row_bits(drafting, 0, request.prompt.size() + 39),
                testing::row_bits(plain, 0, request.prompt.size() + 39));
    }
  }
}

TEST_P(StrictAcceptance, EqualsNoDraftingUnderARuleOfWhatWasSaid) {
  Request request = request_of(random_tokens(70, 1), 40, GetParam());
  request.params.sampling = {.temperature = 0.9f, .top_k = 0, .top_p = 1, .seed = 2};
  request.params.sampling.rule = [](std::span<const kernels::Token> reply,
                                    std::span<float> logits) {
    for (const kernels::Token token : reply.last(std::min<std::size_t>(reply.size(), 5)))
      logits[static_cast<std::size_t>(token)] -= 4;
  };
  const Reply drafted = SmallEngine{}.make().run(request);
  request.params.draft_tokens = 0;
  expect_same_reply(drafted, SmallEngine{}.make().run(request));
}

INSTANTIATE_TEST_SUITE_P(DraftTokens, StrictAcceptance, ::testing::Values(1, 2, 3, 7),
                         ::testing::PrintToStringParamName());

// Without an accepted draft the test above would prove nothing about accepting.
TEST(StrictAcceptanceCoverage, AcceptsAndRejects) {
  Stats total;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Reply reply = SmallEngine{}.make().run(request_of(random_tokens(40, seed), 60));
    total.drafted += reply.stats.drafted;
    total.accepted += reply.stats.accepted;
  }
  EXPECT_GT(total.accepted, 0u);
  EXPECT_LT(total.accepted, total.drafted);
}

TEST(Top2Acceptance, TakesAtLeastWhatStrictTakes) {
  std::size_t strict = 0, top2 = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Request request = request_of(random_tokens(40, seed), 60);
    strict += SmallEngine{}.make().run(request).stats.accepted;
    request.params.acceptance = Acceptance::kTop2;
    const Reply reply = SmallEngine{}.make().run(request);
    EXPECT_EQ(reply.tokens.size(), 60u);
    top2 += reply.stats.accepted;
  }
  EXPECT_GT(top2, strict);
}

TEST(Generate, EndsAtAStopTokenInTheMiddleOfAnAcceptedRun) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Request request = request_of(random_tokens(40, seed), 30);
    const Reply whole = SmallEngine{}.make().run(request);
    for (const std::size_t at : {0u, 3u, 11u}) {
      request.params.stop_tokens = {whole.tokens[at]};
      const Reply cut = SmallEngine{}.make().run(request);
      EXPECT_EQ(cut.finish, FinishReason::kStop);
      EXPECT_EQ(cut.tokens.back(), whole.tokens[at]);
      EXPECT_LE(cut.tokens.size(), at + 1);
      EXPECT_TRUE(std::equal(cut.tokens.begin(), cut.tokens.end(), whole.tokens.begin()));
    }
  }
}

TEST(Generate, StopsAtMaxTokensWhateverWasAccepted) {
  const Reply whole = SmallEngine{}.make().run(request_of(random_tokens(40, 5), 20));
  for (std::size_t limit = 1; limit <= 20; ++limit) {
    const Reply reply = SmallEngine{}.make().run(request_of(random_tokens(40, 5), limit));
    EXPECT_EQ(reply.finish, FinishReason::kLength);
    ASSERT_EQ(reply.tokens.size(), limit);
    EXPECT_TRUE(std::equal(reply.tokens.begin(), reply.tokens.end(), whole.tokens.begin()));
  }
}

// A full buffer ends the reply; its last token needs no row.
TEST(Generate, StopsWhereTheContextIsFull) {
  for (const std::size_t prompt : {90u, 95u, 96u}) {
    const Reply reply = SmallEngine{.prompt_rows = 32, .context = 96}.make().run(
        request_of(random_tokens(prompt, 2), 50));
    EXPECT_EQ(reply.finish, FinishReason::kContext);
    EXPECT_EQ(reply.tokens.size(), 96 - prompt + 1);
  }
}

TEST(Generate, NeverReadsRowsBeyondTheText) {
  const Request request = request_of(random_tokens(75, 9), 24);
  Engine clean = SmallEngine{}.make(), poisoned = SmallEngine{}.make();
  testing::poison_rows(poisoned, 0, 640);
  testing::poison_ring(poisoned);
  const Reply expected = clean.run(request), reply = poisoned.run(request);
  expect_same_reply(reply, expected);
  EXPECT_EQ(reply.stats.accepted, expected.stats.accepted);
}

TEST(Generate, ReportsTokensAsTheyCome) {
  std::vector<kernels::Token> seen;
  Callbacks callbacks;
  callbacks.on_token = [&](kernels::Token token) { seen.push_back(token); };
  const Reply reply = SmallEngine{}.make().run(request_of(random_tokens(40, 1), 20), callbacks);
  EXPECT_EQ(seen, reply.tokens);
  EXPECT_EQ(reply.stats.generated_tokens, 20u);
  EXPECT_EQ(reply.stats.prompt_tokens, 40u);
}

// Every row of the prompt, also on a lane that holds them all from the request before.
TEST(Generate, ShowsTheLogitsAfterEachPromptToken) {
  Engine engine = SmallEngine{}.make();
  const Request request = request_of(random_tokens(150, 1), 2);
  const Reply plain = engine.run(request);
  for (int again = 0; again < 2; ++again) {
    std::vector<std::vector<float>> seen;
    Callbacks callbacks;
    callbacks.on_prompt_logits = [&](std::size_t position, std::span<const float> logits) {
      EXPECT_EQ(position, seen.size());
      seen.emplace_back(logits.begin(), logits.end());
    };
    expect_same_reply(engine.run(request, callbacks), plain);
    ASSERT_EQ(seen.size(), 150u);
    EXPECT_EQ(seen.back(), plain.logits.front());
  }
}

// The bits of up to eight rows do not depend on their number.
TEST(Generate, PromptLogitsAreThoseThatAShorterPromptEndsWith) {
  const std::vector<kernels::Token> tokens = random_tokens(8, 3);
  std::vector<std::vector<float>> seen;
  Callbacks callbacks;
  callbacks.on_prompt_logits = [&](std::size_t, std::span<const float> logits) {
    seen.emplace_back(logits.begin(), logits.end());
  };
  const Reply none = SmallEngine{}.make().run(request_of(tokens, 0), callbacks);
  EXPECT_TRUE(none.tokens.empty());
  EXPECT_EQ(none.finish, FinishReason::kLength);
  ASSERT_EQ(seen.size(), 8u);
  for (std::size_t n = 1; n <= 8; ++n) {
    const Request prefix = request_of({tokens.begin(), tokens.begin() + static_cast<long>(n)}, 1);
    EXPECT_EQ(SmallEngine{}.make().run(prefix).logits.front(), seen[n - 1]);
  }
}

TEST(Generate, CancelsBetweenLaunches) {
  std::size_t polls = 0;
  Callbacks callbacks;
  callbacks.cancelled = [&] { return ++polls > 6; };
  Engine engine = SmallEngine{}.make();
  const Reply reply = engine.run(request_of(random_tokens(100, 1), 200), callbacks);
  EXPECT_EQ(reply.finish, FinishReason::kCancelled);
  EXPECT_LT(reply.tokens.size(), 200u);
  // The lane serves the next request as if nothing had happened.
  const Request next = request_of(random_tokens(50, 3), 12);
  expect_same_reply(engine.run(next), SmallEngine{}.make().run(next));
}

TEST(Generate, WorksWithoutADrafterWithBiasesAndUntiedEmbeddings) {
  const SmallEngine plain{.preset = "plain"};
  const Reply reply = plain.make().run(request_of(random_tokens(70, 4), 16));
  EXPECT_EQ(reply.tokens.size(), 16u);
  EXPECT_EQ(reply.stats.drafted, 0u);
}

}  // namespace
}  // namespace engine::runtime
