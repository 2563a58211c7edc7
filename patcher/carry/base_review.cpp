#include "patcher/carry/base_review.h"

#include <fmt/format.h>

#include "patcher/carry/patch_names.h"
#include "patcher/carry/same_places.h"

namespace patcher {

std::vector<Finding> BaseReview::objections(size_t i, const FileMap& target,
                                            const FileMap& result) const {
  const BaseStep& step = steps_[i];
  if (step.told_apart) {
    if (auto stray = strayed(step, target, result)) return {std::move(*stray)};
    return lost_names_of(step, target, result);
  }
  // Only the base's line numbers say which place is meant: carry must come to the same one.
  FileMap tree = target;
  CarriedPatch carried = carry_patch(step, tree, MoveRule::kRefuse);
  if (carried.outcome != CarryOutcome::kReanchored) return std::move(carried.findings);
  if (tree.same_as(result)) return {};
  return {Finding::of(
      Verdict::kAmbiguous, at_line(step.patch->name),
      "its anchor is there more than once in its base, and the one here is not the one meant",
      carried.place)};
}

std::vector<Finding> BaseReview::objections_in_place(size_t i, const FileMap& target,
                                                     const FileMap& without) const {
  if (auto stray = strayed_in_place(steps_[i], target, without)) return {std::move(*stray)};
  return {};
}

std::vector<std::string> BaseReview::hints(size_t i, const FileMap& on_disk,
                                           const std::string& known) {
  if (!carried_) carried_ = carry_steps(steps_, on_disk, moves_);
  const CarriedPatch& p = (*carried_)[i];
  switch (p.outcome) {
    case CarryOutcome::kUnchanged:
      return {fmt::format("carry would keep it as it is, after those before it: {}", command_)};
    case CarryOutcome::kReanchored:
      return {fmt::format("carry would place it at {}: {}", shown(p.place), command_)};
    case CarryOutcome::kObsolete:
      return {fmt::format("carry would leave it out, the tree has its change: {}", command_)};
    case CarryOutcome::kNeedsPerson:
      break;
  }
  const Finding& why = p.findings.front();
  if (why.message == known) return {};
  std::vector<std::string> out{
      fmt::format("carry would refuse it too: {}: {}", shown(why.place), why.message)};
  out.insert(out.end(), why.hints.begin(), why.hints.end());
  return out;
}

}  // namespace patcher
