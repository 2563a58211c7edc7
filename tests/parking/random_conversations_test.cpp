// Thousands of random turns of many conversations on one lane that parks, each equal to a cold run,
// whatever the clients, the backend, the disk or a kill did before.
//
//   PARKING_TURNS=20000 ctest -R ParkedConversations    the long mode
//   PARKING_SEED=7                                      other conversations
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "case_name.h"
#include "parking/parked_lane.h"
#include "proof/conversation_run.h"
#include "series/series_environment.h"

namespace engine::runtime::testing {
namespace {

constexpr std::size_t kTurnsEach = 40;

std::uint64_t setting(const char* variable, std::uint64_t fallback) {
  const char* value = std::getenv(variable);
  return value == nullptr ? fallback : std::stoull(value);
}

// As the proof of the seven: mostly many cells in few rows, else grids on both sides of a change of
// split, and texts past where decode's order of attention is not prefill's.
LaneShape shape_of_trial(std::uint64_t seed) {
  const std::size_t spare = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 16 : 1024;
  LaneShape shape{.grid = 16, .longest_prompt = 72};
  constexpr LaneShape kWide[] = {{.grid = 49, .longest_prompt = 180},
                                 {.grid = 64, .longest_prompt = 180},
                                 {.grid = 16, .longest_prompt = 330}};
  if (seed % 5 == 0) shape = kWide[seed / 5 % 3];
  shape.spare_ring_rows = spare;
  return shape;
}

// A third never loses anything; the others have too little memory, a small disk, or no memory.
ParkingShape parking_of_trial(std::uint64_t seed, const LaneShape& lane) {
  switch (seed % 6) {
    case 0:
    case 1:
      return {.ram_rows = 100'000};
    case 2:
      return {.ram_rows = 2 * lane.longest_prompt, .least_cells = 2};
    case 3:
      return {.ram_rows = lane.longest_prompt, .disk_bytes = 4 << 20};
    case 4:
      return {.ram_rows = 0, .disk_bytes = 1 << 20};
    default:
      return {.ram_rows = 3 * lane.longest_prompt, .disk_bytes = 64 << 20, .writes_behind = true};
  }
}

struct Draws {
  explicit Draws(std::uint64_t first) : seed(first ^ 0x7061726bu) {}
  std::uint32_t next() { return numerics::philox(seed, count++)[0]; }
  std::uint64_t seed, count = 0;
};

struct Text {
  std::vector<Token> prompt, all;
};

// What happens between two turns, one time in four.
void disturb(ParkedLane& lane, Draws& draws) {
  const std::uint32_t draw = draws.next();
  switch (draws.next() % 28) {
    case 0:
      return lane.restart();
    case 1:
      return lane.erase(draw);
    case 2:
      return lane.save(draw);
    case 3:
      return lane.restore(draw);
    case 4:
      return lane.damage(draw);
    case 5:
      lane.break_disk(static_cast<DiskFault>(1 + draw % 4), draw / 4 % 12);
      return;
    case 6:  // killed, at the disk's calls that the next turns make
      return lane.break_disk(DiskFault::kKilled, draw % 12);
    default:
      return;
  }
}

// Nothing, or what differed.
std::optional<std::string> run_trial(ProofModel& model, std::uint64_t seed,
                                     ParkingCoverage& coverage) {
  Draws draws(seed);
  const LaneShape shape = shape_of_trial(seed);
  ParkedLane lane(model, shape, parking_of_trial(seed, shape));
  std::vector<Text> texts(2 + seed % 5);
  const Conversation drawn = draw_conversation(seed, shape, kTurnsEach);
  std::optional<std::string> reason;
  for (std::size_t i = 0; !reason && i < drawn.turns.size(); ++i) {
    const Turn& turn = drawn.turns[i];
    Text& text = texts[draws.next() % texts.size()];
    // Conversations begin with one system prompt, as those of a client do.
    if (text.all.empty()) text.all = random_tokens(shape.grid + seed % shape.grid, seed);
    if (seed % 6 != 0) disturb(lane, draws);
    text.prompt = next_prompt(turn, text.prompt.empty() ? text.all : text.prompt, text.all,
                              shape.longest_prompt);
    reason = lane.take(request_for(turn, text.prompt), turn.ending, turn.draw);
    if (reason) reason = fmt::format("trial {}, turn {}: {}", seed, i, *reason);
    text.all = text.prompt;
    text.all.insert(text.all.end(), lane.streamed().begin(), lane.streamed().end());
    if (lane.is_dead()) lane.restart();
  }
  coverage += lane.coverage();
  return reason;
}

std::string report(const ParkingCoverage& all) {
  return fmt::format(
      "{} turns compared with cold runs (rows, logits, tokens, drafter)\n"
      "  {} reused rows, {} of them parked ones ({} from disk), {} kept a drafter's ring; {} "
      "parked\n"
      "  {} cancelled, {} disconnected, {} broken by the backend\n"
      "  {} saved, {} restored, {} erased, {} files damaged, {} disk faults, {} kills, {} "
      "restarts\n"
      "  {} where nothing can have been lost, and the reuse was the longest match\n",
      all.turns, all.reused, all.unparked, all.from_disk, all.ring_kept, all.parked, all.cancelled,
      all.disconnected, all.broken, all.saved, all.restored, all.erased, all.damaged, all.faults,
      all.kills, all.restarts, all.exact);
}

// A model, and one in how many turns it takes.
struct Trial {
  const char* preset;
  std::size_t share;
};

class ParkedConversations : public ::testing::TestWithParam<Trial> {};

TEST_P(ParkedConversations, EveryTurnIsAColdRun) {
  const Environment defaults(nullptr, nullptr);
  const std::size_t turns = setting("PARKING_TURNS", 2'000) / GetParam().share;
  const std::uint64_t first_seed = setting("PARKING_SEED", 0) << 32;
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::size_t> done{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  ParkingCoverage all;
  std::vector<std::unique_ptr<ProofModel>> models;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    models.push_back(std::make_unique<ProofModel>(false, GetParam().preset));
  {
    std::vector<std::jthread> threads;
    for (const auto& model : models)
      threads.emplace_back([&] {
        while (done < turns && !failed) {
          ParkingCoverage coverage;
          const auto reason = run_trial(*model, first_seed + next++, coverage);
          done += coverage.turns;
          const std::lock_guard lock(mutex);
          all += coverage;
          if (reason) failed = true, ADD_FAILURE() << *reason;
        }
      });
  }
  std::cout << report(all);
  if (failed || turns < 1'000) return;
  // Without these the trials would not have tried what they are for.
  EXPECT_GT(all.unparked, all.turns / 10);
  EXPECT_GT(all.from_disk, all.turns / 100);
  EXPECT_GT(all.ring_kept, all.turns / 10);
  EXPECT_GT(all.exact, all.turns / 20);
  for (const std::size_t count : {all.broken, all.cancelled, all.disconnected, all.saved,
                                  all.restored, all.erased, all.damaged, all.faults, all.kills})
    EXPECT_GT(count, all.turns / 400);
}

INSTANTIATE_TEST_SUITE_P(Presets, ParkedConversations,
                         ::testing::Values(Trial{"micro", 1}, Trial{"glm4moe-mini", 10},
                                           Trial{"glm5-mini", 40}),
                         [](const auto& test) { return case_word(test.param.preset); });

}  // namespace
}  // namespace engine::runtime::testing
