// What each step of the series must show, and the bug that it keeps: the table claim x step.
//
// Compiled once a step against that step's runtime; SERIES_STEP says which. A claim is tested on
// the step that makes it true and on all later ones; a bug on the steps that keep it, so that the
// claim's test is known to be able to fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "runtime/prefill.h"
#include "runtime/test_network.h"

namespace engine::runtime {
namespace {

using kernels::Token;
using testing::loaded;
using testing::random_tokens;
using testing::request_of;
using testing::row_bits;
using testing::SmallEngine;

constexpr std::size_t kGrid = 64;

// Sets or unsets the series' two variables for one test.
class Environment {
 public:
  Environment(const char* cache, const char* fixed_chunks) {
    set("TF_GLM53_PREFIX_CACHE", cache);
    set("TF_GLM53_FIXED_CHUNKS", fixed_chunks);
  }
  ~Environment() {
    set("TF_GLM53_PREFIX_CACHE", nullptr);
    set("TF_GLM53_FIXED_CHUNKS", nullptr);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void set(const char* variable, const char* value) {
    if (value == nullptr) {
      unsetenv(variable);
    } else {
      setenv(variable, value, 1);
    }
  }
};

std::vector<Token> joined(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The unpatched engine, written out: what step 0 does and what "cache off" must still do.
TEST(CacheOff, ChunksAreSizedFromThePromptsLength) {
  const Environment off("0", nullptr);
  for (const std::size_t length : {1u, 63u, 64u, 65u, 129u, 200u}) {
    std::vector<std::size_t> ends;
    Callbacks callbacks;
    callbacks.on_prefill = [&](std::size_t done, std::size_t) { ends.push_back(done); };
    Engine engine = SmallEngine{}.make();
    (void)engine.run(request_of(random_tokens(length, 1), 2), callbacks);
    std::vector<std::size_t> expected;
    for (const Chunk& chunk : length_sized_chunks(length, kGrid))
      expected.push_back(chunk.end());
    EXPECT_EQ(ends, expected) << length;
    for (std::size_t i = 0; i < length; ++i)
      EXPECT_EQ(engine.lane().state.origin(i).writer, Writer::kPrefill);
  }
}

#if SERIES_STEP >= 1

Lane& lane_of(Engine& engine) {
  return const_cast<Lane&>(engine.lane());
}

// Prefill of `prompt` from `offset` over the rows that a cold run of the same prompt left, all from
// `offset` on poisoned first.
std::vector<std::vector<std::uint16_t>> resumed_rows(const std::vector<Token>& prompt,
                                                     std::size_t offset) {
  const Environment off("0", nullptr);
  Engine engine = SmallEngine{}.make();
  (void)engine.run(request_of(prompt, 1));
  engine.state().poison_rows(offset, prompt.size(), testing::kNaN);
  Stats stats;
  EXPECT_EQ(prefill(lane_of(engine), prompt, {}, stats, offset), prompt.size());
  EXPECT_EQ(stats.prefill_rows, prompt.size() - offset);
  return row_bits(engine, 0, prompt.size());
}

std::vector<std::vector<std::uint16_t>> cold_rows(const std::vector<Token>& prompt) {
  const Environment off("0", nullptr);
  Engine engine = SmallEngine{}.make();
  (void)engine.run(request_of(prompt, 1));
  return row_bits(engine, 0, prompt.size());
}

TEST(Step1, ResumesAtThePromptsOwnColdBoundaries) {
  for (const std::size_t length : {65u, 100u, 130u, 200u, 321u}) {
    const std::vector<Token> prompt = random_tokens(length, length);
    const auto cold = cold_rows(prompt);
    for (const Chunk& chunk : length_sized_chunks(length, kGrid)) {
      EXPECT_EQ(resumed_rows(prompt, chunk.begin), cold) << length << " from " << chunk.begin;
    }
  }
}

#endif

#if SERIES_STEP >= 1 && SERIES_STEP <= 3

// The bug of steps 1 to 3: any offset is taken, and a chunk that is cut short has another row
// count.
TEST(Step1, KeepsTheBugThatAnArbitraryOffsetChangesRows) {
  std::size_t differing = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const std::vector<Token> prompt = random_tokens(128, seed);
    differing += resumed_rows(prompt, 40 + seed) != cold_rows(prompt);
  }
  EXPECT_GT(differing, 0u);
}

#endif

#if SERIES_STEP >= 2

// A resumed drafter reads no row of another text: the ring is poisoned wherever it was not written
// for the rows that were kept.
TEST(Step2, NoDraftReadsARowOfAnotherText) {
  const Environment off("0", nullptr);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const std::vector<Token> prompt = random_tokens(200, seed);
    Request request = request_of(prompt, 40);
    Engine engine = SmallEngine{}.make();
    const Reply cold = engine.run(request);
    for (const Chunk& chunk : length_sized_chunks(prompt.size(), kGrid)) {
      Engine resumed = SmallEngine{}.make();
      (void)resumed.run(request_of(joined(prompt, random_tokens(50, seed + 9)), 30));
      (void)resumed.run(request);
      // Another text has taken the ring; its rows must count as absent.
      lane_of(resumed).drafter.emplace(resumed.lane().network, resumed.state());
      resumed.state().poison_ring(testing::kNaN);
      const Reply reply = generate(lane_of(resumed), prompt, request.params, {}, chunk.begin);
      EXPECT_EQ(reply.tokens, cold.tokens);
      EXPECT_EQ(reply.logits, cold.logits);
      EXPECT_EQ(reply.stats.cached, chunk.begin);
      EXPECT_GE(resumed.lane().drafter->begin(), chunk.begin);
      EXPECT_GT(reply.stats.drafted, 0u);
    }
  }
}

// Where the ring still holds the rows and the hidden state at the boundary was kept, drafts are
// those of a cold run.
TEST(Step2, DraftsAsAColdRunDoesWhereTheRingStillHoldsTheRows) {
  const Environment off("0", nullptr);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const std::vector<Token> prompt = random_tokens(200, seed);
    const Request request = request_of(prompt, 40);
    Engine engine = SmallEngine{}.make();
    const Reply cold = engine.run(request);
    for (const Chunk& chunk : length_sized_chunks(prompt.size(), kGrid)) {
      const Reply reply = generate(lane_of(engine), prompt, request.params, {}, chunk.begin);
      EXPECT_EQ(reply.tokens, cold.tokens);
      EXPECT_EQ(reply.stats.drafted, cold.stats.drafted);
      EXPECT_EQ(reply.stats.accepted, cold.stats.accepted);
      EXPECT_EQ(engine.lane().drafter->begin(), 0u);
    }
  }
}

// The row before a branch was made with the old next token; it is made again with the new one.
TEST(Step2, MakesTheRowBeforeABranchAgain) {
  const Environment off("0", nullptr);
  const std::vector<Token> shared = random_tokens(128, 1);
  const std::vector<Token> a = joined(shared, random_tokens(60, 2)),
                           b = joined(shared, random_tokens(60, 3));
  ASSERT_NE(a[128], b[128]);
  Engine cold = SmallEngine{}.make(), branched = SmallEngine{}.make();
  const Request request = request_of(b, 30);
  const Reply expected = cold.run(request);
  (void)branched.run(request_of(a, 30));
  const std::size_t boundary =
      length_sized_chunks(188, kGrid)[2].begin;  // 126: both prompts share it
  const Reply reply = generate(lane_of(branched), b, request.params, {}, boundary);
  EXPECT_EQ(reply.tokens, expected.tokens);
  EXPECT_EQ(reply.stats.accepted, expected.stats.accepted);
  EXPECT_EQ(branched.lane().drafter->begin(), 0u);
}

#endif

#if SERIES_STEP >= 3

// A second turn: the first prompt, the reply to it, and new text.
struct Conversation {
  std::vector<Token> first;
  std::size_t reply_tokens;
  std::vector<Token> suffix;
};

struct Comparison {
  std::size_t cached = 0;
  std::vector<std::size_t>
      differing_layers;  // layers of the second prompt's rows that differ, ascending
  bool same_reply = true;

  bool equal() const { return differing_layers.empty() && same_reply; }
};

// Runs both turns on one lane, and the second alone on a fresh one with the same settings.
Comparison compare(const Conversation& conversation) {
  Engine lane = SmallEngine{}.make(), fresh = SmallEngine{}.make();
  const Reply first = lane.run(request_of(conversation.first, conversation.reply_tokens));
  const std::vector<Token> second =
      joined(joined(conversation.first, first.tokens), conversation.suffix);
  const Reply resumed = lane.run(request_of(second, 8)), cold = fresh.run(request_of(second, 8));
  Comparison result{.cached = resumed.stats.cached, .differing_layers = {}, .same_reply = false};
  result.same_reply = resumed.tokens == cold.tokens && resumed.logits == cold.logits;
  for (std::size_t layer = 0; layer < lane.lane().network.layers.size(); ++layer) {
    bool equal = true;
    for (std::size_t row = 0; equal && row < second.size(); ++row) {
      const auto a = lane.lane().state.read_row(layer, row),
                 b = fresh.lane().state.read_row(layer, row);
      for (std::size_t i = 0; equal && i < a.size(); ++i)
        equal = a[i].bits == b[i].bits;
    }
    if (!equal) result.differing_layers.push_back(layer);
  }
  return result;
}

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

#endif

// The three bugs are rare per row: a difference in the last bit of a sum must cross a rounding
// boundary of bf16. So each is shown on several conversations, of which at least one must differ.
#if SERIES_STEP >= 3

struct Tally {
  std::size_t trials = 0, differing = 0, reused = 0;
  std::optional<std::size_t> first_layer;  // lowest layer that ever differed
};

Tally tally(const std::vector<Conversation>& conversations) {
  Tally result;
  for (const Conversation& conversation : conversations) {
    const Comparison one = compare(conversation);
    ++result.trials;
    result.reused += one.cached > 0;
    result.differing += !one.equal();
    if (one.differing_layers.empty()) continue;
    const std::size_t layer = one.differing_layers.front();
    result.first_layer = std::min(result.first_layer.value_or(layer), layer);
  }
  return result;
}

// The second prompt has exactly as many tokens as the first: it repeats it with another end.
Tally same_length() {
  Tally result;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const std::vector<Token> shared = random_tokens(150, seed);
    const std::vector<Token> a = joined(shared, random_tokens(30, seed + 50)),
                             b = joined(shared, random_tokens(30, seed + 90));
    Engine lane = SmallEngine{}.make(), fresh = SmallEngine{}.make();
    (void)lane.run(request_of(a, 4));
    const Reply resumed = lane.run(request_of(b, 4)), cold = fresh.run(request_of(b, 4));
    ++result.trials;
    result.reused += resumed.stats.cached > 0;
    result.differing += row_bits(lane, 0, b.size()) != row_bits(fresh, 0, b.size()) ||
                        resumed.logits != cold.logits;
  }
  return result;
}

// Lengths whose cold chunks have another row count on the two sides of a change of split.
std::vector<Conversation> different_lengths() {
  std::vector<Conversation> conversations;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    conversations.push_back({random_tokens(128, seed), 1, random_tokens(6, seed + 50)});
  }
  return conversations;
}

// The seed's 1020 + 10 -> 1024, scaled: the reply crosses a grid boundary.
std::vector<Conversation> replies_across_a_boundary() {
  std::vector<Conversation> conversations;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    conversations.push_back(
        {random_tokens(kGrid - 24 + seed, seed), 40, random_tokens(20, seed + 50)});
  }
  return conversations;
}

#endif

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
