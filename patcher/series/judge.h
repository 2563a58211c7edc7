#pragma once

#include <string>
#include <vector>

#include "patcher/series/section_trial.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// One patch tried on one state of the tree, in memory.
struct Trial {
  std::vector<TrialPart> parts = {};   // in the patch's order (operations first)
  std::vector<Finding> failures = {};  // all of them, not the first
  std::vector<Finding> notes = {};
  std::vector<std::string> paths = {};  // what the patch names in the tree
  FileMap after;                        // REQUIRES ok()

  bool ok() const { return failures.empty(); }
};

// REQUIRES patch.usable(). kUndo is for reversed patches (see locate.h).
Trial try_patch(const Patch& patch, const FileMap& before, ScopeRule rule = ScopeRule::kStrict,
                Failures failures = Failures::kAll, const TrialCache* cache = nullptr);

// Takes the patch off in memory if all of it is there: each of its parts undoes, and doing the
// patch on the result gives `now` again, byte for byte. Nothing when it is not there.
//
// Where a part fits both ways (an added line's context is also there once it is added), the longer
// anchor is believed; so a second run never doubles an insertion.
std::optional<FileMap> take_off(const Patch& patch, const FileMap& now);

// The verdict over one patch on one state.
struct Judgement {
  Verdict verdict = Verdict::kApplies;
  std::vector<Finding> findings = {};  // errors of a refusal
  std::vector<Finding> notes = {};
  std::vector<std::string> paths = {};
  FileMap after;  // equals the state before unless the verdict is kApplies
};

// kApplies, kAlreadyApplied, or a refusal. A patch that would apply is refused as ambiguous when
// its result could not be recognised as applied, because a second run would then do harm. With
// Failures::kVerdict the same verdict and result, with findings that nobody should read.
Judgement judge(const Patch& patch, const FileMap& before, Failures failures = Failures::kAll,
                const TrialCache* cache = nullptr);

}  // namespace patcher
