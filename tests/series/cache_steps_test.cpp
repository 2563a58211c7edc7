// What each step of the series must show, and the bug that it keeps: the table claim x step.
//
// Compiled once a step against that step's runtime; SERIES_STEP says which. A claim is tested on
// the step that makes it true and on all later ones; a bug on the steps that keep it, so that the
// claim's test is known to be able to fail. Here: steps 3 to 7, which reuse rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "series/conversations.h"

namespace engine::runtime {
namespace {

using kernels::Token;
using testing::compare;
using testing::Comparison;
using testing::different_lengths;
using testing::Environment;
using testing::joined;
using testing::kGrid;
using testing::loaded;
using testing::random_tokens;
using testing::replies_across_a_boundary;
using testing::request_of;
using testing::row_bits;
using testing::same_length;
using testing::SmallEngine;
using testing::Tally;
using testing::tally;

TEST(Step3, ASecondTurnReusesRows) {
  const Environment on("1", nullptr);
  const Comparison result = compare({random_tokens(200, 1), 10, random_tokens(40, 2)});
  EXPECT_GT(result.cached, 100u);
}

TEST(Step3, OffMeansOff) {
  const Environment off("0", nullptr);
  const Comparison result = compare({random_tokens(200, 1), 10, random_tokens(40, 2)});
  EXPECT_EQ(result.cached, 0u);
  EXPECT_TRUE(result.equal());
}

TEST(Step3, AWrongValueIsAnError) {
  const Environment wrong("yes", nullptr);
  EXPECT_THAT([] { (void)SmallEngine{}.make(); },
              ::testing::ThrowsMessage<RequestError>(
                  ::testing::HasSubstr("TF_GLM53_PREFIX_CACHE is \"yes\"")));
}

#if SERIES_STEP <= 5

TEST(Step3, NobodyGetsTheCacheUnasked) {
  const Environment defaults(nullptr, nullptr);
  const Comparison result = compare({random_tokens(200, 1), 10, random_tokens(40, 2)});
  EXPECT_EQ(result.cached, 0u);
  EXPECT_TRUE(result.equal());
}

#endif

// Its logits are the first reply token's.
TEST(Step3, TheLastTokensRowIsAlwaysComputed) {
  const Environment on("1", SERIES_STEP >= 5 ? "1" : nullptr);
  const Request request = request_of(random_tokens(2 * kGrid, 1), 4);
  Engine lane = SmallEngine{}.make();
  (void)lane.run(request);
  const Reply again = lane.run(request);
  EXPECT_GT(again.stats.cached, 0u);
  EXPECT_LT(again.stats.cached, request.prompt.size());
}

// A request that fails in prefill leaves no record of rows that it did not complete.
TEST(Step3, AFailedRunLeavesNoStaleRecord) {
  const Environment on("1", SERIES_STEP >= 5 ? "1" : nullptr);
  struct Disconnected {};
  Engine lane = SmallEngine{}.make(), fresh = SmallEngine{}.make();
  (void)lane.run(request_of(random_tokens(150, 1), 4));
  Callbacks failing;
  failing.on_prefill = [](std::size_t, std::size_t) { throw Disconnected(); };
  EXPECT_THROW((void)lane.run(request_of(random_tokens(150, 2), 4), failing), Disconnected);
  const Request again = request_of(random_tokens(150, 1), 8);
  const Reply reply = lane.run(again);
  EXPECT_EQ(reply.stats.cached, 0u);
  EXPECT_EQ(reply.logits, fresh.run(again).logits);
}

#if SERIES_STEP == 3

TEST(Step3, KeepsTheBugThatAnyOffsetIsTaken) {
  const Environment on("1", nullptr);
  EXPECT_GT(same_length().differing, 0u);
}

#endif

#if SERIES_STEP >= 4

TEST(Step4, PromptsOfTheSameLengthAreEqual) {
  const Environment on("1", nullptr);
  const Tally result = same_length();
  EXPECT_EQ(result.reused, result.trials);
  EXPECT_EQ(result.differing, 0u);
}

#endif

#if SERIES_STEP >= 4

// A prompt of 180 tokens is cut by its length into chunks of 60, on the grid into chunks of 64.
TEST(Step4, ReuseEndsAtTheLastBoundaryOfWhatIsCommon) {
  const Environment on("1", SERIES_STEP >= 5 ? "1" : nullptr);
  const std::size_t chunk = SERIES_STEP >= 5 ? kGrid : 60;
  for (const std::size_t common :
       {chunk - 1, chunk, chunk + 1, 2 * chunk - 1, 2 * chunk, 2 * chunk + 1}) {
    const std::vector<Token> a = random_tokens(180, common);
    std::vector<Token> b = a;
    b[common] ^= 1;
    Engine lane = SmallEngine{}.make();
    (void)lane.run(request_of(a, 4));
    EXPECT_EQ(lane.run(request_of(b, 4)).stats.cached, common / chunk * chunk) << common;
  }
}

#endif

#if SERIES_STEP == 4

TEST(Step4, KeepsTheBugThatRowsTiledForAnotherLengthAreInherited) {
  const Environment on("1", nullptr);
  const Tally result = tally(different_lengths());
  EXPECT_GT(result.reused, 0u);
  EXPECT_GT(result.differing, 0u);
  // As the seed saw: the first layer is equal, deeper ones diverge.
  EXPECT_GE(result.first_layer.value_or(0), 1u);
}

#endif

#if SERIES_STEP >= 5

TEST(Step5, OnTheGridPromptsOfAnyLengthAreEqual) {
  const Environment on("1", "1");
  const Tally result = tally(different_lengths());
  EXPECT_EQ(result.reused, result.trials);
  EXPECT_EQ(result.differing, 0u);
}

// Latents and index keys of one position are one row, kept and made again together.
TEST(Step5, OnTheGridRowsOfSparseAttentionAreEqual) {
  const Environment both("1", "1");
  std::vector<testing::Conversation> conversations = different_lengths();
  conversations.resize(4);
  const Tally result = tally(conversations, "glm5-mini");
  EXPECT_EQ(result.reused, 4u);
  EXPECT_EQ(result.differing, 0u);
}

// Whoever finds the lane busy has its reuse decided when its turn comes. Here a stranger waits
// before it, whose rows take the place of those that the buffer held as it came.
TEST(Step5, ReuseIsDecidedOnceTheLaneIsFree) {
  const Environment on("1", "1");
  const auto later = [](auto&& run) {
    std::thread thread(run);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until it waits
    return thread;
  };
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Engine lane = SmallEngine{}.make();
    const Request request = request_of(random_tokens(150, seed), 8);
    const Request stranger = request_of(random_tokens(150, seed + 100), 8);
    const Reply quiet = SmallEngine{}.make().run(request);
    Reply reply;
    std::vector<std::thread> waiting;
    Callbacks callbacks;
    callbacks.on_token = [&](Token) {
      if (!waiting.empty()) return;
      waiting.push_back(later([&] { (void)lane.run(stranger); }));
      waiting.push_back(later([&] { reply = lane.run(request); }));
    };
    (void)lane.run(request, callbacks);
    for (std::thread& thread : waiting)
      thread.join();
    EXPECT_EQ(reply.logits, quiet.logits) << seed;
  }
}

TEST(Step5, TheGridAloneReusesNothing) {
  const Environment grid("0", "1");
  const Comparison result = compare({random_tokens(200, 1), 10, random_tokens(40, 2)});
  EXPECT_EQ(result.cached, 0u);
}

TEST(Step5, AWrongValueIsAnError) {
  const Environment wrong(nullptr, "2");
  EXPECT_THAT([] { (void)SmallEngine{}.make(); },
              ::testing::ThrowsMessage<RequestError>(
                  ::testing::HasSubstr("TF_GLM53_FIXED_CHUNKS is \"2\"")));
}

#endif

#if SERIES_STEP >= 6

TEST(Step6, TheDefaultsCacheOnTheGrid) {
  const Environment defaults(nullptr, nullptr);
  const Tally result = tally(different_lengths());
  EXPECT_EQ(result.reused, result.trials);
  EXPECT_EQ(result.differing, 0u);
}

// A cancelled request leaves its completed chunks, and the next turn reuses them.
TEST(Step6, ACancelledPrefillKeepsItsCompletedChunks) {
  const Environment defaults(nullptr, nullptr);
  const std::vector<Token> prompt = random_tokens(300, 1);
  for (std::size_t chunks = 0; chunks <= 4; ++chunks) {
    Engine lane = SmallEngine{}.make(), fresh = SmallEngine{}.make();
    std::size_t polls = 0;
    Callbacks cancelling;
    cancelling.cancelled = [&] { return polls++ == chunks; };
    EXPECT_EQ(lane.run(request_of(prompt, 4), cancelling).finish, FinishReason::kCancelled);
    const Reply reply = lane.run(request_of(prompt, 8)), cold = fresh.run(request_of(prompt, 8));
    EXPECT_EQ(reply.stats.cached, chunks * kGrid);
    EXPECT_EQ(reply.logits, cold.logits);
    EXPECT_EQ(row_bits(lane, 0, prompt.size()), row_bits(fresh, 0, prompt.size()));
  }
}

#endif

#if SERIES_STEP == 6

TEST(Step6, KeepsTheBugThatDecodeWrittenRowsAreReused) {
  const Environment defaults(nullptr, nullptr);
  const Tally result = tally(replies_across_a_boundary());
  EXPECT_GT(result.reused, 0u);
  EXPECT_GT(result.differing, 0u);
}

#endif

#if SERIES_STEP >= 7

TEST(Step7, ReuseEndsWhereDecodeBegan) {
  const Environment defaults(nullptr, nullptr);
  const Tally result = tally(replies_across_a_boundary());
  EXPECT_EQ(result.reused, 0u);  // no prompt fills a grid cell
  EXPECT_EQ(result.differing, 0u);
}

TEST(Step7, RowsOfSparseAttentionEndWhereDecodeBegan) {
  const Environment defaults(nullptr, nullptr);
  std::vector<testing::Conversation> conversations = replies_across_a_boundary();
  for (testing::Conversation& conversation : conversations)
    conversation.first = joined(random_tokens(kGrid, 77), conversation.first);
  conversations.resize(4);
  const Tally result = tally(conversations, "glm5-mini");
  EXPECT_EQ(result.reused, 4u);
  EXPECT_EQ(result.differing, 0u);
}

TEST(Step7, TheSeedsCase1020Plus10) {
  const Environment defaults(nullptr, nullptr);
  const SmallEngine big{.prompt_rows = 512, .context = 1536};
  Engine lane = big.make(), fresh = big.make();
  const std::vector<Token> first = random_tokens(1020, 1);
  const Reply reply = lane.run(request_of(first, 10));
  const Request second = request_of(joined(joined(first, reply.tokens), random_tokens(30, 2)), 4);
  const Reply resumed = lane.run(second);
  EXPECT_EQ(resumed.stats.cached, 512u);
  EXPECT_EQ(resumed.stats.common_prefix, 1029u);
  EXPECT_EQ(resumed.stats.reuse_bound, "canonical_end");
  EXPECT_EQ(resumed.logits, fresh.run(second).logits);
  EXPECT_EQ(row_bits(lane, 0, second.prompt.size()), row_bits(fresh, 0, second.prompt.size()));
}

// Two prompts that share exactly `common` tokens.
TEST(Step7, BoundaryMatrix) {
  const Environment defaults(nullptr, nullptr);
  for (const std::size_t boundary : {kGrid, 2 * kGrid}) {
    for (std::size_t common = boundary - 2; common <= boundary + 2; ++common) {
      const std::vector<Token> shared = random_tokens(common, common);
      std::vector<Token> a = joined(shared, random_tokens(70, 1)),
                         b = joined(shared, random_tokens(50, 2));
      a[common] = 1, b[common] = 2;
      Engine lane = SmallEngine{}.make(), fresh = SmallEngine{}.make();
      (void)lane.run(request_of(a, 6));
      const Reply resumed = lane.run(request_of(b, 6)), cold = fresh.run(request_of(b, 6));
      EXPECT_EQ(resumed.stats.cached, common / kGrid * kGrid) << common;
      EXPECT_EQ(resumed.logits, cold.logits) << common;
      EXPECT_EQ(resumed.stats.accepted, cold.stats.accepted) << common;
      EXPECT_EQ(row_bits(lane, 0, b.size()), row_bits(fresh, 0, b.size())) << common;
    }
  }
}

TEST(Step7, ExactRepeatAndShorterPrompt) {
  const Environment defaults(nullptr, nullptr);
  const std::vector<Token> prompt = random_tokens(3 * kGrid, 4);
  Engine lane = SmallEngine{}.make();
  (void)lane.run(request_of(prompt, 6));
  for (const std::size_t length :
       {3 * kGrid, 3 * kGrid - 1, 2 * kGrid + 1, 2 * kGrid, std::size_t{5}, std::size_t{1}}) {
    const Request request = request_of(random_tokens(length, 4), 6);
    Engine fresh = SmallEngine{}.make();
    const Reply resumed = lane.run(request);
    EXPECT_EQ(resumed.stats.cached, (length - 1) / kGrid * kGrid) << length;
    EXPECT_EQ(resumed.logits, fresh.run(request).logits) << length;
    EXPECT_EQ(row_bits(lane, 0, length), row_bits(fresh, 0, length)) << length;
  }
}

TEST(Step7, TheGridIsForcedOnLoudly) {
  const Environment contradictory("1", "0");
  std::string warning;
  const auto log = [&](Severity severity, std::string_view line) {
    if (severity == Severity::kWarning) warning = line;
  };
  Engine engine(loaded().network, {.context = 640, .prompt_rows = kGrid, .log = log});
  EXPECT_THAT(warning, ::testing::HasSubstr("TF_GLM53_FIXED_CHUNKS=0 is overridden"));
  EXPECT_TRUE(engine.lane().fixed_chunks);
}

#endif

}  // namespace
}  // namespace engine::runtime
