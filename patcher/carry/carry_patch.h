#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "patcher/carry/base_steps.h"
#include "patcher/import/import.h"

namespace patcher {

// What became of one patch of a series that moved from one base to another.
enum class CarryOutcome {
  kUnchanged,    // applies there as it is, and uses nothing that is gone there
  kReanchored,   // the same change under new anchors
  kObsolete,     // the new base has the change
  kNeedsPerson,  // refused, and why
};

// "unchanged", "re-anchored", "obsolete", "needs a person".
std::string_view outcome_name(CarryOutcome outcome);

struct CarriedPatch {
  std::string name = {};
  std::string subject = {};
  CarryOutcome outcome = CarryOutcome::kUnchanged;
  Imported imported = {};              // the patch for the new base; empty if it is obsolete
  std::vector<Finding> findings = {};  // why a person is needed
  std::vector<Finding> notes = {};     // where a place was a choice
  Place place = {};                    // re-anchored: where its first change lands
};

// Whether a change goes to another file when the definition that holds it is there now. If not, it
// is refused with a hint that says so.
enum class MoveRule { kRefuse, kFollow };

// Carries one patch from its base to `tree`, which gets its changes unless a person is needed. Of a
// patch that stays as it is, unchanged or for a person to look at, `imported` is left to the
// caller.
CarriedPatch carry_patch(const BaseStep& from, FileMap& tree, MoveRule moves);

}  // namespace patcher
