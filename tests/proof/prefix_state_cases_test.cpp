// Scenarios made from public bug reports of other engines' prefix caches, second part: stale state,
// trimming, the drafter, cancellation, what clients send, accounting. See
// prefix_bits_cases_test.cpp.
//
// Not here, because this engine has nothing that they could happen to:
//   index-topk-ties, index-keys-not-restored   no sparse index: attention reads every row
//   weights-changed               an engine's weights never change; others are another engine,
//   whose
//                                 record is empty
//   prompt-logprobs-over-cached-rows           no logits of prompt rows are ever returned
// Elsewhere: assert-what-you-cannot is checker_test.cpp. concurrent-lane's clients are the HTTP
// lane's; what the engine promises them, strict order, is tested here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <thread>

#include "proof/prefix_case.h"

#ifdef __SANITIZE_ADDRESS__
// Of the sanitizer's runtime; g++ 12 has no header that declares it.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace engine::runtime::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kCell = 16;
constexpr std::size_t kWindow = 32;  // of the micro preset's drafter

// github.com/madroidmaq/mlx-omni-server/pull/92, case 1: a new chat with the same first message.
TEST_F(PrefixCase, RegenerateWrongTrim) {
  ComparedLane lanes = lane(kCell, 90);
  const std::vector<Token> hello = random_tokens(21, 1);
  EXPECT_EQ(lanes.take(request_of(hello, 12)), std::nullopt);
  EXPECT_EQ(lanes.take(request_of(joined(lanes.text(), random_tokens(30, 2)), 12)), std::nullopt);
  EXPECT_EQ(lanes.take(request_of(hello, 12)), std::nullopt);
  EXPECT_EQ(lanes.cached(), kCell);
}

// github.com/Blaizzy/mlx-vlm/pull/1748: a ring that has wrapped, resumed at several places in it.
TEST_F(PrefixCase, RingSlicedByLogicalLength) {
  for (const std::size_t back : {3u, 20u, 37u, 50u}) {
    ComparedLane lanes = lane(kCell, 10 * kWindow + 60, 7 * kCell - 5);
    EXPECT_EQ(lanes.take(request_of(random_tokens(10 * kWindow, 1), 9)), std::nullopt);
    const std::vector<Token> branch = head(lanes.prompt(), 10 * kWindow - back);
    EXPECT_EQ(lanes.take(request_of(joined(branch, random_tokens(40, 2)), 9)), std::nullopt);
    EXPECT_EQ(lanes.cached(), (10 * kWindow - back) / kCell * kCell);
    EXPECT_EQ(lanes.coverage().ring_kept, 1u) << back;
  }
}

// github.com/ggml-org/llama.cpp/pull/13194: a branch from before all that the ring holds.
TEST_F(PrefixCase, WindowNotAvailable) {
  ComparedLane lanes = lane(kCell, 10 * kWindow + 60, 0);
  EXPECT_EQ(lanes.take(request_of(random_tokens(10 * kWindow, 1), 9)), std::nullopt);
  const std::vector<Token> branch = head(lanes.prompt(), 2 * kWindow);
  EXPECT_EQ(lanes.take(request_of(joined(branch, random_tokens(70, 2)), 20)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 2 * kWindow);
  EXPECT_EQ(lanes.coverage().ring_absent, 1u);
  EXPECT_GE(lanes.engine().lane().drafter->begin(), 2 * kWindow - 1);
}

// github.com/ggml-org/llama.cpp/pull/12161: nothing is ever shifted; what moved is computed again.
TEST_F(PrefixCase, ShiftPositionsWrong) {
  ComparedLane lanes = lane(kCell, 100);
  const std::vector<Token> text = random_tokens(90, 1);
  EXPECT_EQ(lanes.take(request_of(text, 3)), std::nullopt);
  const std::vector<Token> shifted = joined(head(text, 40), {text.begin() + 45, text.end()});
  EXPECT_EQ(lanes.take(request_of(shifted, 3)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 2 * kCell);
}

// github.com/ggml-org/llama.cpp/issues/4097
TEST_F(PrefixCase, ShiftThenGarbage) {
  ComparedLane lanes = lane(kCell, 100);
  const std::vector<Token> text = random_tokens(90, 1);
  EXPECT_EQ(lanes.take(request_of(text, 3)), std::nullopt);
  EXPECT_EQ(lanes.take(request_of({text.begin() + 1, text.end()}, 3)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 0u);
}

// github.com/vllm-project/vllm/pull/12621: token ids are compared, so any one of them ends the
// prefix.
TEST_F(PrefixCase, HashCollision) {
  const std::vector<Token> text = random_tokens(60, 1);
  for (std::size_t position = 0; position < text.size(); ++position) {
    std::vector<Token> other = text;
    other[position] ^= 1;
    EXPECT_EQ(longest_common_prefix(text, other), position);
  }
}

// github.com/vllm-project/vllm/issues/49125: A, then B that leaves it early, then A.
TEST_F(PrefixCase, StaleHashResurrected) {
  ComparedLane lanes = lane(kCell, 100);
  const std::vector<Token> a = random_tokens(90, 1);
  EXPECT_EQ(lanes.take(request_of(a, 3)), std::nullopt);
  EXPECT_EQ(lanes.take(request_of(joined(head(a, 20), random_tokens(60, 2)), 3)), std::nullopt);
  EXPECT_EQ(lanes.take(request_of(a, 3)), std::nullopt);
  EXPECT_EQ(lanes.cached(), kCell);
}

// github.com/vllm-project/vllm/pull/43569: the backend breaks in the second chunk of five.
TEST_F(PrefixCase, RegisteredBeforeWritten) {
  ComparedLane lanes = lane(kCell, 100);
  const Request request = request_of(random_tokens(75, 1), 1);
  EXPECT_EQ(lanes.take(request), std::nullopt);
  const auto second_chunk = static_cast<std::uint32_t>(lanes.latest().operations * 3 / 10);
  ComparedLane fresh = lane(kCell, 100);
  EXPECT_EQ(fresh.take(request, Ending::kBroken, second_chunk), std::nullopt);
  EXPECT_EQ(fresh.latest().prefilled, kCell);
  EXPECT_EQ(fresh.take(request), std::nullopt);
  EXPECT_EQ(fresh.cached(), kCell);
}

// github.com/madroidmaq/mlx-omni-server/pull/92, case 2, and
// github.com/ggml-org/llama.cpp/issues/29163: the client goes away after seven tokens; its next
// turn contains them.
TEST_F(PrefixCase, CancelledStream) {
  ComparedLane lanes = lane(kCell, 100);
  const std::uint32_t seventh_token = 4 + 7 - 1;  // after four chunks
  EXPECT_EQ(lanes.take(request_of(random_tokens(60, 1), 20), Ending::kDisconnected, seventh_token),
            std::nullopt);
  ASSERT_EQ(lanes.latest().streamed.size(), 7u);
  EXPECT_EQ(lanes.take(request_of(joined(lanes.text(), random_tokens(9, 2)), 5)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 3 * kCell);
}

TEST_F(PrefixCase, DisconnectDropsEverything) {
  ComparedLane lanes = lane(kCell, 300);
  EXPECT_EQ(lanes.take(request_of(random_tokens(290, 1), 20), Ending::kCancelled, 21),
            std::nullopt);
  ASSERT_EQ(lanes.latest().reply->finish, FinishReason::kCancelled);
  EXPECT_EQ(lanes.take(request_of(random_tokens(300, 1), 5)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 288u);
}

// github.com/sgl-project/sglang/pull/35694: a stop in the middle of an accepted run.
TEST_F(PrefixCase, OvershootInRecord) {
  std::size_t accepted = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    ComparedLane lanes = lane(kCell, 100);
    const std::vector<Token> prompt = random_tokens(30, seed);
    EXPECT_EQ(lanes.take(request_of(prompt, 20, 7)), std::nullopt);
    const std::vector<Token> reply = lanes.latest().reply->tokens;
    for (std::size_t end = 1; end < reply.size(); ++end) {
      Request request = request_of(prompt, end % 2 == 0 ? end : 20, 7);
      if (end % 2 != 0) request.params.stop_tokens = {reply[end - 1]};
      EXPECT_EQ(lanes.take(request), std::nullopt);
      accepted += lanes.latest().reply->stats.accepted;
      const std::vector<Token>& returned = lanes.latest().reply->tokens;
      EXPECT_EQ(lanes.engine().cache().record().size(), prompt.size() + returned.size() - 1);
      EXPECT_EQ(longest_common_prefix(lanes.engine().cache().record(), lanes.text()),
                prompt.size() + returned.size() - 1);
    }
  }
  EXPECT_GT(accepted, 0u);
}

// github.com/lablup/mlxcel/issues/994: between rounds the drafter has followed all but the latest
// round's tokens, whatever was accepted.
TEST_F(PrefixCase, DraftRewindArithmetic) {
  for (const std::size_t drafts : {1u, 3u, 7u}) {
    Engine engine(shared_model().network, {.context = 400, .prompt_rows = kCell, .log = {}});
    std::size_t tokens = 0, before_round = 0, rounds = 0;
    Callbacks callbacks;
    callbacks.on_token = [&](Token) { ++tokens; };
    callbacks.cancelled = [&] {
      if (tokens > 0) {
        EXPECT_EQ(engine.lane().drafter->end(), 30 + before_round - 1) << "round " << rounds;
        ++rounds;
      }
      before_round = tokens;
      return false;
    };
    (void)engine.run(request_of(random_tokens(30, 1), 300, drafts), callbacks);
    EXPECT_GT(rounds, 30u);
  }
}

// github.com/NVIDIA/Megatron-LM/pull/7033: the row before a branch at a cell's end was made with
// the old next token.
TEST_F(PrefixCase, LookAheadAtBranch) {
  const std::vector<Token> shared = random_tokens(3 * kCell, 1);
  ComparedLane lanes = lane(kCell, 100);
  EXPECT_EQ(lanes.take(request_of(joined(shared, {1, 2, 3, 4}), 3)), std::nullopt);
  const auto old_row = ring_row(lanes.engine(), 3 * kCell - 1);
  EXPECT_EQ(lanes.take(request_of(joined(shared, {5, 6, 7, 8}), 3)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 3 * kCell);
  EXPECT_NE(ring_row(lanes.engine(), 3 * kCell - 1), old_row);
  EXPECT_EQ(lanes.engine().lane().drafter->begin(), 0u);
}

// github.com/sgl-project/sglang/pull/17338: the ring's rows are lost; they count as absent.
TEST_F(PrefixCase, DraftKvNotManaged) {
  Engine engine(shared_model().network, {.context = 200, .prompt_rows = kCell, .log = {}});
  Engine cold(shared_model().network, {.context = 200, .prompt_rows = kCell, .log = {}});
  (void)engine.run(request_of(random_tokens(60, 1), 5));
  lane_of(engine).drafter.emplace(engine.lane().network, lane_of(engine).state);
  poison_ring(engine);
  const Request request = request_of(random_tokens(70, 1), 40);
  const Reply reply = engine.run(request), expected = cold.run(request);
  EXPECT_EQ(reply.stats.cached, 3 * kCell);
  EXPECT_EQ(reply.tokens, expected.tokens);
  EXPECT_EQ(reply.logits, expected.logits);
  const Drafter& drafter = *engine.lane().drafter;
  EXPECT_EQ(ring_poison(engine, {drafter.begin(), drafter.end()}), std::nullopt);
}

// github.com/vllm-project/vllm/issues/14649: accepted tokens' drafter rows are made again from the
// target's hidden states. Bits are prefill's where kernels do not depend on the launch; elsewhere
// the inputs are the same and a verify launch has another row count.
TEST_F(PrefixCase, ApproximateHiddenKept) {
  ProofModel model(/*row_invariant=*/true);
  const EngineOptions options{.context = 200, .prompt_rows = kCell, .log = {}};
  Engine engine(model.network, options), whole(model.network, options);
  const std::vector<Token> prompt = random_tokens(30, 1);
  const Reply reply = engine.run(request_of(prompt, 60, 7));
  EXPECT_GT(reply.stats.accepted, 0u);
  (void)whole.run(request_of(joined(prompt, reply.tokens), 1));
  EXPECT_EQ(ring_difference(engine, whole, {0, engine.lane().drafter->end()}), std::nullopt);
}

// github.com/sgl-project/sglang/issues/8726
TEST_F(PrefixCase, DraftTopkWrongOnHit) {
  ComparedLane lanes = lane(kCell, 100);
  const Request request = request_of(random_tokens(60, 2), 30);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(lanes.take(request), std::nullopt);
    EXPECT_EQ(lanes.latest().reply->stats.accepted, lanes.latest_cold().reply->stats.accepted);
    EXPECT_EQ(lanes.latest().reply->stats.drafted, lanes.latest_cold().reply->stats.drafted);
  }
  EXPECT_EQ(lanes.cached(), 3 * kCell);
}

// github.com/sgl-project/sglang/issues/32459
TEST_F(PrefixCase, SilentReuseCollapse) {
  ComparedLane drafting = lane(kCell, 400), plain = lane(kCell, 400);
  for (std::uint64_t turn = 0; turn < 12; ++turn) {
    for (ComparedLane* lanes : {&drafting, &plain}) {
      const std::vector<Token> prompt = joined(lanes->text(), random_tokens(20, turn));
      EXPECT_EQ(lanes->take(request_of(prompt, 6, lanes == &drafting ? 3 : 0)), std::nullopt);
    }
    EXPECT_EQ(drafting.text(), plain.text());
    EXPECT_EQ(drafting.cached(), plain.cached());
    EXPECT_EQ(drafting.cached() > 0, turn > 0);
  }
}

// github.com/vllm-project/vllm/issues/41838: 300 turns, each accepting what a cold run accepts.
TEST_F(PrefixCase, AcceptanceDecaysOverHours) {
  ComparedLane lanes = lane(kCell, 120);
  std::size_t here = 0, cold = 0;
  for (std::uint64_t turn = 0; turn < 300; ++turn) {
    const std::vector<Token> text =
        lanes.text().size() > 100 ? head(lanes.text(), 40 + turn % 9) : lanes.text();
    ASSERT_EQ(lanes.take(request_of(joined(text, random_tokens(1 + turn % 12, turn)), 6)),
              std::nullopt);
    here += lanes.latest().reply->stats.accepted;
    cold += lanes.latest_cold().reply->stats.accepted;
  }
  EXPECT_EQ(here, cold);
  EXPECT_GT(here, 100u);
}

// github.com/antirez/ds4/pull/56: history comes back without its reasoning; then turn 1 is
// rewritten.
TEST_F(PrefixCase, ThinkingStripped) {
  ComparedLane lanes = lane(kCell, 200);
  const std::vector<Token> turn1 = random_tokens(40, 1);
  EXPECT_EQ(lanes.take(request_of(turn1, 30)), std::nullopt);
  const std::vector<Token> answer{lanes.text().begin() + 60, lanes.text().end()};
  const std::vector<Token> turn2 = joined(joined(turn1, answer), random_tokens(40, 2));
  EXPECT_EQ(lanes.take(request_of(turn2, 10)), std::nullopt);
  EXPECT_EQ(lanes.cached(), 2 * kCell);
  std::vector<Token> turn3 = joined(lanes.text(), random_tokens(20, 3));
  turn3[20] ^= 1;
  EXPECT_EQ(lanes.take(request_of(turn3, 10)), std::nullopt);
  EXPECT_EQ(lanes.cached(), kCell);
}

// github.com/ollama/ollama/pull/14918: the statistics say where the prompt first differs.
TEST_F(PrefixCase, VolatileFirstLine) {
  ComparedLane lanes = lane(kCell, 100);
  std::vector<Token> prompt = random_tokens(80, 1);
  for (Token nonce = 0; nonce < 4; ++nonce) {
    prompt[10] = nonce;
    EXPECT_EQ(lanes.take(request_of(prompt, 3)), std::nullopt);
    EXPECT_EQ(lanes.cached(), 0u);
    EXPECT_EQ(lanes.latest().reply->stats.common_prefix, nonce == 0 ? 0u : 10u);
  }
}

// github.com/ml-explore/mlx-lm/issues/965: requests in any order from many threads, each its own
// reply.
TEST_F(PrefixCase, ConcurrentLane) {
  const EngineOptions options{.context = 100, .prompt_rows = kCell, .log = {}};
  Engine engine(shared_model().network, options);
  constexpr std::uint64_t kClients = 8;
  std::vector<Reply> replies(kClients);
  {
    std::vector<std::jthread> clients;
    for (std::uint64_t i = 0; i < kClients; ++i) {
      clients.emplace_back([&, i] {
        for (int turn = 0; turn < 3; ++turn)
          replies[i] = engine.run(request_of(joined(random_tokens(40, 1), random_tokens(9, i)), 6));
      });
    }
  }
  for (std::uint64_t i = 0; i < kClients; ++i) {
    Engine cold(shared_model().network, options);
    const Reply expected =
        cold.run(request_of(joined(random_tokens(40, 1), random_tokens(9, i)), 6));
    EXPECT_EQ(replies[i].tokens, expected.tokens);
    EXPECT_EQ(replies[i].logits, expected.logits);
  }
}

// github.com/ollama/ollama/pull/16428
TEST_F(PrefixCase, CachedCountWrong) {
  ComparedLane lanes = lane(kCell, 100);
  for (const std::size_t length : {40u, 60u, 60u}) {
    EXPECT_EQ(lanes.take(request_of(random_tokens(length, 1), 3)), std::nullopt);
    const Stats& stats = lanes.latest().reply->stats;
    EXPECT_EQ(stats.prompt_tokens, length);
    EXPECT_EQ(stats.prefill_rows, length - stats.cached);
  }
  EXPECT_EQ(lanes.cached(), 3 * kCell);
}

// github.com/ggml-org/llama.cpp/issues/4288: both variables in every combination.
TEST(PrefixCaseSettings, CacheOffNotOff) {
  for (const char* cache : {"0", "1"}) {
    for (const char* grid : {"0", "1"}) {
      const Environment environment(cache, grid);
      std::string warning;
      Engine engine(shared_model().network, {.context = 100,
                                             .prompt_rows = kCell,
                                             .log = [&](Severity severity, std::string_view line) {
                                               if (severity == Severity::kWarning) warning = line;
                                             }});
      const bool on = *cache == '1', contradicts = on && *grid == '0';
      EXPECT_THAT(warning, HasSubstr(contradicts ? "TF_GLM53_FIXED_CHUNKS=0 is overridden" : ""));
      EXPECT_EQ(warning.empty(), !contradicts);
      (void)engine.run(request_of(random_tokens(40, 1), 2));
      EXPECT_EQ(engine.run(request_of(random_tokens(40, 1), 2)).stats.cached, on ? 2 * kCell : 0u);
      // 40 tokens: 16 + 16 + 8 on the grid, 14 + 14 + 12 when sized from the length.
      EXPECT_EQ(engine.lane().state.origin(39).launch_rows, on || *grid == '1' ? 8u : 12u);
    }
  }
}

// What is allocated and not freed. Resident memory would not do: the address sanitizer keeps what
// is freed for a while, and malloc keeps pages.
std::size_t live_heap_bytes() {
#ifdef __SANITIZE_ADDRESS__
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
#endif
}

// github.com/ikawrakow/ik_llama.cpp/issues/2320
TEST_F(PrefixCase, MemoryLimitNotEnforced) {
  Engine engine(shared_model().network, {.context = 60, .prompt_rows = kCell, .log = {}});
  std::size_t settled = 0;
  for (std::uint64_t turn = 0; turn < 3000; ++turn) {
    (void)engine.run(request_of(random_tokens(1 + turn % 60, turn / 5), 2));
    ASSERT_LE(engine.cache().record().size(), 60u);
    if (turn == 500) settled = live_heap_bytes();
  }
  // One token kept a turn would be 10,000 bytes.
  EXPECT_LT(live_heap_bytes(), settled + 8192);
}

}  // namespace
}  // namespace engine::runtime::testing
