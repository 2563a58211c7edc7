#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "patcher/file_map.h"
#include "patcher/import_series.h"
#include "patcher/series.h"

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
  Imported imported = {};  // the patch for the new base; empty for the last two outcomes
  std::vector<Finding> findings = {};  // why a person is needed
  std::vector<Finding> notes = {};     // where a place was a choice
};

// Carries a series from the base that it applies to onto another one. Patch k is carried from the
// result of those before it on the old base to their result on the new one; after a patch that
// needs a person the later ones are still judged, without it.
//
// `errors` gets what keeps the series from applying to its own base, and nothing is carried then.
// REQUIRES series.errors.empty(). Throws BrokenEnvironment when a patch file cannot be read.
std::vector<CarriedPatch> carry_series(const Series& series, const FileMap& base,
                                       const FileMap& onto, std::vector<Finding>& errors);

// The new series, for write_import(). REQUIRES that no patch needs a person.
SeriesImport carried_import(const std::vector<CarriedPatch>& patches);

}  // namespace patcher
