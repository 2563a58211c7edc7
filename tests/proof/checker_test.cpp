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

// Both sides of the change of split at 48 rows; short contexts are all that bits need.
constexpr LaneShape kWide{.grid = 64, .longest_prompt = 180, .spare_ring_rows = 1024};
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
  const std::vector<std::string> reasons = failures(model, kWide, kBitsOnly, 100);
  std::cout << "step " << SERIES_STEP << ": " << reasons.size() << " of 100 conversations differ\n";
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
  const std::vector<std::string> reasons = failures(model, kNarrow, origins, 100);
  EXPECT_GT(count_with(reasons, "row "), 20u);
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
  for (std::uint64_t seed = 0; shrunk < 5; ++seed) {
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
  EXPECT_EQ(failures(model, kWide, kBitsOnly, 100), std::vector<std::string>{});
}

#if SERIES_STEP == 6

TEST(Checker, SeesTheBugByPoison) {
  const Environment environment = step_environment();
  ProofModel model;
  const Checks poison{.accounting = false, .origins = false, .poison = true};
  EXPECT_GT(failures(model, kNarrow, poison, 50).size(), 0u);
}

#endif

}  // namespace
}  // namespace engine::runtime::testing
