// The checker must be able to see what it is there for: on the steps that keep a bug, the same
// random conversations fail. And the control: with kernels whose rows do not depend on their
// launch, the same steps do not.
//
// Compiled for step 4 (rows tiled for another length) and step 6 (rows that decode wrote).
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "proof/conversation_run.h"
#include "series/series_environment.h"

namespace engine::runtime::testing {
namespace {

// Where a wrong launch shows in bits. Step 4: chunks on both sides of the change of split at 48
// rows. Step 6: prompts past 256 positions, from where decode's order of attention is not
// prefill's, on cells that a reply crosses more often than not.
constexpr LaneShape kWide =
    SERIES_STEP == 6 ? LaneShape{.grid = 16, .longest_prompt = 330, .spare_ring_rows = 1024}
                     : LaneShape{.grid = 64, .longest_prompt = 180, .spare_ring_rows = 1024};
constexpr std::size_t kWideConversations = 40;
constexpr LaneShape kNarrow{.grid = 16, .longest_prompt = 72, .spare_ring_rows = 1024};
constexpr Checks kBitsOnly{.accounting = false, .origins = false, .poison = false};
constexpr std::size_t kTurns = 6;

// Step 4 has no grid, so its cold runs have none either.
Environment step_environment() {
  return {"1", nullptr};
}

// Each failed conversation's reason; `conversations` of them are run.
std::vector<std::string> failures(ProofModel& model, const LaneShape& shape, const Checks& checks,
                                  std::size_t conversations) {
  std::vector<std::string> reasons;
  Coverage coverage;
  for (std::uint64_t seed = 0; seed < conversations; ++seed) {
    const auto failure =
        run_conversation(model, draw_conversation(seed, shape, kTurns), checks, coverage);
    if (failure) reasons.push_back(failure->reason);
  }
  return reasons;
}

std::size_t count_with(const std::vector<std::string>& reasons, std::string_view beginning) {
  return static_cast<std::size_t>(
      std::count_if(reasons.begin(), reasons.end(), [&](const std::string& reason) {
        return reason.compare(0, beginning.size(), beginning) == 0;
      }));
}

TEST(Checker, SeesTheStepsBugInTheBitsAlone) {
  const Environment environment = step_environment();
  ProofModel model;
  const std::vector<std::string> reasons = failures(model, kWide, kBitsOnly, kWideConversations);
  std::cout << "step " << SERIES_STEP << ": " << reasons.size() << " of " << kWideConversations
            << " conversations differ\n";
  EXPECT_GT(count_with(reasons, "row "), 0u);
  // In the first layer only attention's input could differ, and it does not: the seed's symptom.
  for (const std::string& reason : reasons)
    EXPECT_EQ(reason.find("layer 0"), std::string::npos) << reason;
}

// A wrong launch changes few rows' bits; its origin gives it away in every one.
TEST(Checker, SeesTheStepsBugByWhoWroteTheRows) {
  const Environment environment = step_environment();
  ProofModel model;
  const Checks origins{.accounting = false, .origins = true, .poison = false};
  const std::vector<std::string> reasons = failures(model, kNarrow, origins, 40);
  EXPECT_GT(count_with(reasons, "row "), 8u);
}

TEST(Checker, ShrinksAFailureToTheTurnsThatMakeIt) {
  const Environment environment = step_environment();
  ProofModel model;
  const Checks origins{.accounting = false, .origins = true, .poison = false};
  Coverage coverage;
  const auto fails = [&](const Conversation& conversation) {
    return run_conversation(model, conversation, origins, coverage).has_value();
  };
  std::size_t shrunk = 0;
  for (std::uint64_t seed = 0; shrunk < 3; ++seed) {
    const Conversation drawn = draw_conversation(seed, kNarrow, kTurns);
    if (!fails(drawn)) continue;
    const Conversation small = shrink(drawn, fails);
    EXPECT_TRUE(fails(small));
    EXPECT_LE(small.turns.size(), 3u) << to_string(small);
    ++shrunk;
  }
}

// Without the fixed grid, and with rows that decode wrote: equal all the same, at the price that
// bench_row_invariant measures.
TEST(Control, RowInvariantKernelsHaveNothingToSee) {
  const Environment environment = step_environment();
  ProofModel model(/*row_invariant=*/true);
  EXPECT_EQ(failures(model, kWide, kBitsOnly, kWideConversations), std::vector<std::string>{});
}

#if SERIES_STEP == 6

TEST(Checker, SeesTheBugByPoison) {
  const Environment environment = step_environment();
  ProofModel model;
  const Checks poison{.accounting = false, .origins = false, .poison = true};
  EXPECT_GT(failures(model, kNarrow, poison, 50).size(), 0u);
}

// The seed's own numbers: 1020 + 10 tokens round to 1024. Step 7 passes in tests/series.
TEST(Checker, SeesTheSeedsCase1020Plus10) {
  const Environment environment = step_environment();
  ProofModel model;
  const LaneShape shape{.grid = 512, .longest_prompt = 1040, .spare_ring_rows = 1024};
  const auto failure = [&](std::uint64_t seed, const Checks& checks) {
    ComparedLane lane(model, shape, checks);
    EXPECT_EQ(lane.take(request_of(random_tokens(1020, seed), 10)), std::nullopt);
    return lane.take(request_of(joined(lane.text(), random_tokens(9, seed + 50)), 2));
  };
  const Checks origins{.accounting = false, .origins = true, .poison = false};
  // The first prompt's remainder was a launch of 508 rows, and decode wrote the four after it.
  EXPECT_EQ(failure(1, origins).value_or("nothing").substr(0, 41),
            "row 512 was written by prefill [512, 1020");
  std::size_t differing = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    differing += failure(seed, kBitsOnly).has_value();
  std::cout << "1020 + 10: " << differing << " of 3 differ\n";
  EXPECT_GT(differing, 0u);
}

#endif

}  // namespace
}  // namespace engine::runtime::testing
