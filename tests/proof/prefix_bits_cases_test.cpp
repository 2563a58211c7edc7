// Scenarios made from public bug reports of other engines' prefix caches, first part: lengths, and
// bits of a shared prefix. Each names the report it was made from; prefix_state_cases_test.cpp has
// the rest, and the list of those that cannot happen here.
//
// G is the grid, R what a request reuses: floor(min(LCP, canonical end, length - 1) / G) * G. A
// ComparedLane holds every request against a cold run (rows, who wrote them, logits, tokens,
// drafter) with NaN in all that must not be read, and R, the record and the rows computed against
// the formula.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "numerics/philox.h"
#include "proof/prefix_case.h"

namespace engine::runtime::testing {
namespace {

using ::testing::ElementsAre;

// github.com/ggml-org/llama.cpp/pull/1609
TEST_F(PrefixCase, FullHitNeedsOneRow) {
  ComparedLane lanes = lane(64, 200);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(lanes.take(request_of(random_tokens(200, 1), 4)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 192u);
  EXPECT_EQ(lanes.latest().reply->stats.prefill_rows, 8u);
}

// github.com/vllm-project/vllm/pull/11186
TEST_F(PrefixCase, FullHitExactMultiple) {
  ComparedLane lanes = lane(64, 200);
  EXPECT_EQ(lanes.take(request_of(random_tokens(192, 1), 4)), std::nullopt);
  EXPECT_EQ(lanes.take(request_of(random_tokens(192, 1), 4)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 128u);
  EXPECT_EQ(lanes.take(request_of(random_tokens(193, 1), 4)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 192u);
}

// github.com/ml-explore/mlx-lm/pull/183
TEST_F(PrefixCase, TrimEverything) {
  ComparedLane lanes = lane(64, 64);
  for (const std::size_t length : {5u, 1u, 1u}) {
    EXPECT_EQ(lanes.take(request_of(random_tokens(length, 1), 4)), std::nullopt);
    EXPECT_EQ(lanes.cached(), 0u);
  }
}

// github.com/ggml-org/llama.cpp/pull/5420
TEST_F(PrefixCase, CheckAfterTrim) {
  ComparedLane lanes = lane(16, 64);
  std::vector<std::vector<float>> logits;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(lanes.take(request_of(random_tokens(3, 1), 1)), std::nullopt);
    logits.push_back(lanes.latest().reply->logits.front());
    EXPECT_EQ(logits.back(), logits.front());
  }
}

// github.com/ggml-org/llama.cpp/issues/1884
TEST_F(PrefixCase, GreaterVsGreaterEqual) {
  constexpr std::size_t kRows = 64;
  for (std::size_t k = 1; k <= 3; ++k) {
    for (std::size_t common = k * kRows - 2; common <= k * kRows + 2; ++common) {
      ComparedLane lanes = lane(kRows, 240);
      const std::vector<Token> shared = random_tokens(common, k);
      EXPECT_EQ(lanes.take(request_of(joined(shared, {1, 5, 6, 7}), 1)), std::nullopt);
      EXPECT_EQ(lanes.take(request_of(joined(shared, {2, 8, 9, 3}), 2)), std::nullopt) << common;
      EXPECT_EQ(lanes.cached(), common / kRows * kRows) << common;
    }
  }
}

// github.com/oobabooga/textgen/pull/4145
TEST_F(PrefixCase, DoubledLastToken) {
  ComparedLane lanes = lane(16, 64);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(lanes.take(request_of({97}, 1)), std::nullopt);
    EXPECT_EQ(lanes.latest().reply->stats.prefill_rows, 1u);
    EXPECT_EQ(lanes.engine().lane().state.origin(1).writer, Writer::kNone);
  }
}

// github.com/yanun0323/Whallm/issues/5: the one-row chunk must use prefill's order, not decode's.
// Past 256 positions the two differ.
TEST_F(PrefixCase, OneRowRemainder) {
  for (const std::size_t cells : {1u, 5u}) {
    ComparedLane lanes = lane(64, 330);
    EXPECT_EQ(lanes.take(request_of(random_tokens(64 * cells, 1), 2)), std::nullopt);
    EXPECT_EQ(lanes.take(request_of(random_tokens(64 * cells + 1, 1), 2)), std::nullopt);
    EXPECT_EQ(lanes.cached(), 64 * cells);
    EXPECT_EQ(lanes.latest().reply->stats.prefill_rows, 1u);
    EXPECT_EQ(lanes.engine().lane().state.origin(64 * cells).writer, Writer::kPrefill);
  }
}

// github.com/nicedreamzapp/claude-code-local/issues/46
TEST_F(PrefixCase, ShrinkThenGrow) {
  constexpr std::size_t kRows = 64;
  ComparedLane lanes = lane(kRows, 320);
  const std::vector<Token> first = random_tokens(300, 1);
  EXPECT_EQ(lanes.take(request_of(first, 8)), std::nullopt);
  const std::vector<Token> second = joined(head(first, kRows + 3), random_tokens(9, 2));
  EXPECT_EQ(lanes.take(request_of(second, 8)), std::nullopt);
  EXPECT_EQ(lanes.cached(), kRows);
  EXPECT_EQ(lanes.take(request_of(joined(second, random_tokens(150, 3)), 8)), std::nullopt);
  EXPECT_EQ(lanes.cached(), kRows);
}

// github.com/nicedreamzapp/claude-code-local/pull/47: the buffer has one size, so no growth step
// can be read as a length; reuse depends on the bound and the grid whatever the context is.
TEST_F(PrefixCase, AllocationStepAsLength) {
  for (const std::size_t context : {290u, 512u}) {
    for (const std::size_t length : {255u, 256u, 257u}) {
      ComparedLane lanes = lane(48, context);
      EXPECT_EQ(lanes.take(request_of(random_tokens(length, 1), 2)), std::nullopt);
      EXPECT_EQ(lanes.take(request_of(random_tokens(length + 20, 1), 2)), std::nullopt);
      EXPECT_EQ(lanes.cached(), length / 48 * 48);
    }
  }
}

// github.com/ml-explore/mlx-lm/pull/1039
TEST_F(PrefixCase, DoubleFedRemainder) {
  ComparedLane lanes = lane(16, 100);
  EXPECT_EQ(lanes.take(request_of(random_tokens(50, 1), 4)), std::nullopt);
  EXPECT_EQ(lanes.take(request_of(random_tokens(75, 1), 4)), std::nullopt);
  // Launches that tile [R, length) once: 48, 64, then a remainder of 11.
  EXPECT_EQ(lanes.latest().reply->stats.prefill_chunks, 2u);
  EXPECT_EQ(lanes.latest().reply->stats.prefill_rows, 75u - 48u);
  EXPECT_EQ(lanes.take(request_of(random_tokens(60, 2), 4)), std::nullopt);
}

// The seed; github.com/pegainfer-project/pegainfer/pull/688. That the old chunker is seen to fail
// is checker_test.cpp on step 4.
TEST_F(PrefixCase, LengthDependentChunks) {
  ComparedLane lanes = lane(512, 1040);
  EXPECT_EQ(lanes.take(request_of(random_tokens(1000, 1), 1)), std::nullopt);
  EXPECT_EQ(lanes.take(request_of(random_tokens(1037, 1), 2)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 512u);
}

// github.com/vllm-project/vllm/issues/5543
TEST_F(PrefixCase, InconsistentCompletions) {
  ComparedLane lanes = lane(16, 80);
  const std::vector<Token> system = random_tokens(37, 9);
  for (std::uint64_t step = 0; step < 60; ++step) {
    const std::uint64_t prompt =
        (step * 7 + step / 20) % 20;  // three passes, each in another order
    const Request request = request_of(joined(system, random_tokens(1 + prompt, prompt)), 6);
    EXPECT_EQ(lanes.take(request), std::nullopt) << "step " << step;
  }
  EXPECT_GT(lanes.coverage().reused, 50u);
}

// github.com/sgl-project/sglang/issues/4175
TEST_F(PrefixCase, TenPercentDiffer) {
  ComparedLane lanes = lane(16, 64);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::size_t shared = i % 2 == 0 ? 0 : 16 + i % 20;
    const std::vector<Token> prompt = joined(random_tokens(shared, 5), random_tokens(1 + i % 9, i));
    ASSERT_EQ(lanes.take(request_of(prompt, 1)), std::nullopt) << "request " << i;
  }
}

// The seed's 1020 + 10 -> 1024. That reuse of those rows is seen to fail is checker_test.cpp on
// step 6.
TEST_F(PrefixCase, DecodeRowsReused) {
  ComparedLane lanes = lane(64, 80);
  EXPECT_EQ(lanes.take(request_of(random_tokens(60, 1), 10)), std::nullopt);
  EXPECT_EQ(lanes.take(request_of(joined(lanes.text(), random_tokens(5, 2)), 4)), std::nullopt);
  EXPECT_EQ(lanes.latest().reply->stats.common_prefix, 69u);
  EXPECT_EQ(lanes.cached(), 0u);
}

// github.com/ml-explore/mlx-examples/issues/977
TEST_F(PrefixCase, UninitialisedTailSaved) {
  ComparedLane lanes = lane(2, 400);
  EXPECT_EQ(lanes.take(request_of(random_tokens(3, 1), 1)), std::nullopt);
  EXPECT_EQ(lanes.take(request_of(random_tokens(13, 1), 4)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 2u);
}

// github.com/NVIDIA/TensorRT-LLM/issues/2217
TEST_F(PrefixCase, LogitsOutOfRange) {
  ComparedLane lanes = lane(16, 64);
  for (std::uint64_t i = 0; i < 500; ++i) {
    const std::size_t shared = numerics::philox(3, i)[0] % 50;
    const std::vector<Token> prompt = joined(random_tokens(shared, 5), random_tokens(1 + i % 9, i));
    ASSERT_EQ(lanes.take(request_of(prompt, 2)), std::nullopt) << "request " << i;
    const Reply& reply = *lanes.latest().reply;
    for (const std::vector<float>& logits : reply.logits)
      ASSERT_TRUE(
          std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); }));
    for (const Token token : reply.tokens)
      ASSERT_TRUE(token >= 0 && token < 320);
  }
}

// github.com/huggingface/transformers/issues/36151: a suffix run at positions from 0 has other keys
// in its first row already, and the same values, which have no position.
TEST_F(PrefixCase, PositionsRestartAtZero) {
  const std::vector<Token> prompt = random_tokens(40, 1);
  ComparedLane lanes = lane(16, 64), restarted = lane(16, 64);
  EXPECT_EQ(lanes.take(request_of(prompt, 1)), std::nullopt);
  EXPECT_EQ(restarted.take(request_of({prompt.begin() + 16, prompt.end()}, 1)), std::nullopt);
  const auto right = lanes.engine().lane().state.read_row(0, 16);
  const auto wrong = restarted.engine().lane().state.read_row(0, 0);
  const auto same = [](kernels::bf16 a, kernels::bf16 b) { return a.bits == b.bits; };
  const auto half = static_cast<std::ptrdiff_t>(right.size() / 2);
  EXPECT_FALSE(std::equal(right.begin(), right.begin() + half, wrong.begin(), same));
  EXPECT_TRUE(std::equal(right.begin() + half, right.end(), wrong.begin() + half, same));
}

// github.com/vllm-project/vllm/pull/6144
TEST_F(PrefixCase, ChunkWhollyInsidePrefix) {
  ComparedLane lanes = lane(16, 64);
  EXPECT_EQ(lanes.take(request_of(random_tokens(50, 1), 1)), std::nullopt);
  std::vector<std::size_t> ends;
  Callbacks callbacks;
  callbacks.on_prefill = [&](std::size_t done, std::size_t) { ends.push_back(done); };
  (void)lanes.engine().run(request_of(random_tokens(60, 1), 1), callbacks);
  EXPECT_THAT(ends, ElementsAre(60));
  EXPECT_EQ(lanes.engine().lane().state.origin(59).launch_begin, 48u);
}

}  // namespace
}  // namespace engine::runtime::testing
