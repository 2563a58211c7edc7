// A request ended at every point that it has: cancelled at each question, its caller gone at each
// callback, the backend broken before each operation. What it leaves must serve the next turn.
#include <gtest/gtest.h>

#include <iostream>
#include <string_view>
#include <tuple>

#include "case_name.h"
#include "proof/compared_lane.h"
#include "series/series_environment.h"

namespace engine::runtime::testing {
namespace {

constexpr std::size_t kStageCell = 16;
constexpr const char* kEvery = "micro";
// A ring as small as the model allows: it forgets soonest, and a launch overwrites the oldest rows.
constexpr LaneShape kSmall{.grid = kStageCell, .longest_prompt = 112};

std::vector<Token> head(const std::vector<Token>& text, std::size_t count) {
  return {text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count)};
}

// The turn after the one that ended early: the same again, its continuation, or a branch some cells
// before its end.
std::vector<Token> next_of(const ComparedLane& lane, std::size_t kind) {
  if (kind == 0) return lane.prompt();
  if (kind == 1) return joined(lane.text(), random_tokens(5, 3));
  return joined(head(lane.prompt(), lane.prompt().size() - 18 - kStageCell * (kind - 2)),
                random_tokens(9, 4));
}

// One conversation: a first prompt, a second turn that ends at its `point`-th point, a third.
// False: the second turn has no such point.
bool ends_at(ProofModel& model, Ending ending, std::uint32_t point, std::size_t first,
             std::size_t next) {
  ComparedLane lane(model, kSmall);
  EXPECT_EQ(lane.take(request_of(random_tokens(first, 1), 1)), std::nullopt);
  const Request second = request_of(joined(lane.text(), random_tokens(20, 2)), 4);
  EXPECT_EQ(lane.take(second, ending, point), std::nullopt) << "point " << point;
  const bool ended =
      !lane.latest().reply || lane.latest().reply->finish == FinishReason::kCancelled;
  EXPECT_EQ(lane.take(request_of(next_of(lane, next), 5)), std::nullopt)
      << "after point " << point << ", first prompt " << first << ", next turn " << next;
  return ended;
}

class EveryStage : public ::testing::TestWithParam<std::tuple<const char*, Ending>> {};

TEST_P(EveryStage, LeavesWhatTheNextTurnCanUse) {
  const Environment defaults(nullptr, nullptr);
  const std::string_view preset = std::get<0>(GetParam());
  const Ending ending = std::get<1>(GetParam());
  ProofModel model(false, std::string(preset));
  std::size_t points = 0;
  for (const std::size_t first : {4 * kStageCell + 1, 5 * kStageCell - 2}) {
    for (std::size_t next = 0; next < 4; ++next) {
      // Every point before the branch that needs the oldest drafter rows, every few before the
      // rest and of models with more operations.
      const bool every = ending != Ending::kBroken ||
                         (preset == kEvery && first == 4 * kStageCell + 1 && next == 3);
      const std::uint32_t stride = every ? 1 : preset == "glm5-mini" ? 23 : 7;
      std::uint32_t point = static_cast<std::uint32_t>(next) % stride;
      while (ends_at(model, ending, point, first, next)) {
        ASSERT_FALSE(HasFailure());
        point += stride, ++points;
      }
    }
  }
  EXPECT_GE(points, 40u);
  std::cout << points << " points tried\n";
}

std::string name_of(const ::testing::TestParamInfo<EveryStage::ParamType>& info) {
  constexpr const char* kNames[] = {"None", "Cancelled", "Disconnected", "Broken"};
  const auto& [preset, ending] = info.param;
  return case_word(preset) + "_" + kNames[static_cast<std::size_t>(ending)];
}

INSTANTIATE_TEST_SUITE_P(Endings, EveryStage,
                         ::testing::Combine(::testing::Values(kEvery, "glm4moe-mini", "glm5-mini"),
                                            ::testing::Values(Ending::kCancelled,
                                                              Ending::kDisconnected,
                                                              Ending::kBroken)),
                         name_of);

}  // namespace
}  // namespace engine::runtime::testing
