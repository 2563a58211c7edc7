// Thousands of random turns on the whole series, each equal to a cold run, whatever the client, the
// backend or the drafter did before.
//
//   PROOF_TURNS=200000 ctest -R RandomConversations    the long mode
//   PROOF_SEED=7                                       other conversations
//   PROOF_BACKEND=cuda                                 all proofs on the card
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

#include "case_name.h"
#include "proof/conversation_run.h"
#include "series/series_environment.h"

namespace engine::runtime::testing {
namespace {

constexpr std::size_t kTurnsEach = 6;

std::uint64_t setting(const char* variable, std::uint64_t fallback) {
  const char* value = std::getenv(variable);
  return value == nullptr ? fallback : std::stoull(value);
}

// Four in five on a small grid: many cells in few rows, so that a turn is cheap; whatever reads a
// wrong row, or a row of another launch, shows there; longer by as many positions as sparse
// attention chooses. The rest on grids on both sides of a change of split (48 rows on this model),
// where a wrong launch shape shows in the bits, and past 256 positions, from where decode's order
// of attention is not prefill's.
LaneShape shape_of_trial(std::uint64_t seed, std::size_t choice) {
  const std::size_t spare = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 16 : 1024;
  const std::size_t longest = 72 + choice;
  if (seed % 5 != 0) return {.grid = 16, .longest_prompt = longest, .spare_ring_rows = spare};
  constexpr LaneShape kWide[] = {{.grid = 49, .longest_prompt = 180},
                                 {.grid = 64, .longest_prompt = 180},
                                 {.grid = 80, .longest_prompt = 180},
                                 {.grid = 16, .longest_prompt = 330}};
  LaneShape shape = kWide[seed / 5 % 4];
  shape.spare_ring_rows = spare;
  return shape;
}

// Conversations from `next` on until `turns` have been compared, on this thread's own model.
struct Worker {
  Worker(const std::string& preset, std::uint64_t first_seed)
      : model(false, preset), seed_base(first_seed) {}

  ProofModel model;
  std::uint64_t seed_base;
  Coverage coverage;
  std::vector<std::string> failures;

  void work(std::atomic<std::uint64_t>& next, std::atomic<std::size_t>& done, std::size_t turns) {
    while (done < turns && failures.empty()) {
      const std::uint64_t seed = seed_base + next++;
      const LaneShape shape = shape_of_trial(seed, model.network.config().latent.choice);
      const Conversation drawn = draw_conversation(seed, shape, kTurnsEach);
      const std::size_t before = coverage.turns;
      if (run_conversation(model, drawn, {}, coverage)) failures.push_back(smallest(drawn, seed));
      done += coverage.turns - before;
    }
  }

  std::string smallest(const Conversation& drawn, std::uint64_t seed) {
    Coverage ignored;
    const auto fails = [&](const Conversation& candidate) {
      return run_conversation(model, candidate, {}, ignored).has_value();
    };
    const Conversation small = shrink(drawn, fails);
    const Failure failure = *run_conversation(model, small, {}, ignored);
    return fmt::format("conversation {}, shrunk: turn {}: {}\n{}", seed, failure.turn,
                       failure.reason, to_string(small));
  }
};

std::string report(const Coverage& all, std::size_t failures) {
  std::string text = fmt::format(
      "{} turns compared with cold runs (rows, logits, tokens, drafter): {} failed\n"
      "  {} reused rows ({} kept the drafter's ring, {} could not), {} accepted drafts, {} "
      "sampled\n"
      "  {} stopped, {} cancelled, {} disconnected, {} broken by the backend\n",
      all.turns, failures, all.reused, all.ring_kept, all.ring_absent, all.drafted, all.sampled,
      all.stopped, all.cancelled, all.disconnected, all.broken);
  if (failures == 0) {
    text += fmt::format("  at 95 % confidence fewer than {:.4f} % of such turns fail\n",
                        100 * failure_rate_bound(all.turns));
  }
  return text;
}

// A model, and one in how many turns it takes.
struct Trial {
  const char* preset;
  std::size_t share;
};

class RandomConversations : public ::testing::TestWithParam<Trial> {};

TEST_P(RandomConversations, EveryTurnIsAColdRun) {
  const Environment defaults(nullptr, nullptr);
  const std::size_t turns = setting("PROOF_TURNS", 20'000) / GetParam().share;
  const std::uint64_t first_seed = setting("PROOF_SEED", 0) << 32;
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    workers.push_back(std::make_unique<Worker>(GetParam().preset, first_seed));
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::size_t> done{0};
  {
    std::vector<std::jthread> threads;
    for (auto& worker : workers)
      threads.emplace_back([&, w = worker.get()] { w->work(next, done, turns); });
  }
  Coverage all;
  std::size_t failures = 0;
  for (const auto& worker : workers) {
    all += worker->coverage;
    failures += worker->failures.size();
    for (const std::string& failure : worker->failures)
      ADD_FAILURE() << failure;
  }
  std::cout << report(all, failures);
  EXPECT_GE(all.turns, failures == 0 ? turns : 0);
  // Without these the trials would not have tried what they are for.
  EXPECT_GT(all.reused, all.turns / 5);
  EXPECT_GT(all.ring_kept, all.turns / 10);
  EXPECT_GT(all.drafted, all.turns / 20);
  EXPECT_GT(all.cancelled, all.turns / 50);
  EXPECT_GT(all.disconnected, all.turns / 50);
  EXPECT_GT(all.broken, all.turns / 50);
}

INSTANTIATE_TEST_SUITE_P(Presets, RandomConversations,
                         ::testing::Values(Trial{"micro", 1}, Trial{"glm4moe-mini", 10},
                                           Trial{"glm5-mini", 40}),
                         [](const auto& test) { return case_word(test.param.preset); });

}  // namespace
}  // namespace engine::runtime::testing
