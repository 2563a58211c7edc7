// What each step of the series must show, and the bug that it keeps: the table claim x step.
//
// Compiled once a step against that step's runtime; SERIES_STEP says which. A claim is tested on
// the step that makes it true and on all later ones; a bug on the steps that keep it, so that the
// claim's test is known to be able to fail. Here: steps 0 to 2, before anything is reused by
// itself.
#include <gtest/gtest.h>

#include "runtime/poison.h"
#include "runtime/prefill.h"
#include "series/series_environment.h"

namespace engine::runtime {
namespace {

using kernels::Token;
using testing::Environment;
using testing::joined;
using testing::kGrid;
using testing::lane_of;
using testing::random_tokens;
using testing::request_of;
using testing::row_bits;
using testing::SmallEngine;

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

// Prefill of `prompt` from `offset` over the rows that a cold run of the same prompt left, all from
// `offset` on poisoned first.
std::vector<std::vector<std::uint16_t>> resumed_rows(const std::vector<Token>& prompt,
                                                     std::size_t offset,
                                                     const char* preset = "micro") {
  const Environment off("0", nullptr);
  Engine engine = SmallEngine{.preset = preset}.make();
  (void)engine.run(request_of(prompt, 1));
  testing::poison_rows(engine, offset, prompt.size());
  Stats stats;
  EXPECT_EQ(prefill(lane_of(engine), prompt, {}, stats, offset), prompt.size());
  EXPECT_EQ(stats.prefill_rows, prompt.size() - offset);
  return row_bits(engine, 0, prompt.size());
}

std::vector<std::vector<std::uint16_t>> cold_rows(const std::vector<Token>& prompt,
                                                  const char* preset = "micro") {
  const Environment off("0", nullptr);
  Engine engine = SmallEngine{.preset = preset}.make();
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

// What a position keeps beside its latent is made again with it, and read where it was kept.
TEST(Step1, ResumesRowsOfSparseAttention) {
  const std::vector<Token> prompt = random_tokens(200, 200);
  const auto cold = cold_rows(prompt, "glm5-mini");
  for (const Chunk& chunk : length_sized_chunks(prompt.size(), kGrid))
    EXPECT_EQ(resumed_rows(prompt, chunk.begin, "glm5-mini"), cold) << "from " << chunk.begin;
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
      Lane& lane = lane_of(resumed);
      lane.drafter.emplace(lane.network, lane.state);
      testing::poison_ring(resumed);
      const Reply reply = generate(lane, prompt, request.params, {}, chunk.begin);
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

}  // namespace
}  // namespace engine::runtime
