#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patcher/series/section_trial.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// One patch tried on one state of the tree, in memory.
struct Trial {
  std::vector<TrialPart> parts = {};        // in the patch's order (operations first)
  std::vector<TrialFailure> failures = {};  // all of them, not the first
  std::vector<Finding> notes = {};          // what of its results a person should know
  FileMap after;                            // REQUIRES ok()

  bool ok() const { return failures.empty(); }
};

// REQUIRES patch.usable(). kUndo is for reversed patches (see place.h).
Trial try_patch(const Patch& patch, const FileMap& before, ScopeRule rule, TrialCache& cache);
// Which of its parts could be done, and nothing of their result.
std::vector<TrialPart> try_parts(const Patch& patch, const FileMap& before, ScopeRule rule,
                                 TrialCache& cache);
// The same as try_patch(), or nothing at the first failure.
std::optional<Trial> try_whole(const Patch& patch, const FileMap& before, ScopeRule rule,
                               TrialCache& cache);

// Takes the patch off in memory if all of it is there: each of its parts undoes, and doing the
// patch on the result gives `now` again, byte for byte. Nothing when it is not there.
//
// Where a part fits both ways (an added line's context is also there once it is added), the longer
// anchor is believed; so a second run never doubles an insertion.
std::optional<FileMap> take_off(const Patch& patch, const FileMap& now, TrialCache& cache);
std::optional<FileMap> take_off(const Patch& patch, const FileMap& now);

// The verdict over one patch on one state.
struct Judgement {
  Verdict verdict = Verdict::kApplies;
  std::vector<TrialFailure> failures = {};  // of a refusal; explained() makes findings of them
  std::vector<Finding> notes = {};
  FileMap after;  // equals the state before unless the verdict is kApplies
};

// kApplies, kAlreadyApplied, or a refusal. A patch that would apply is refused as ambiguous when
// its result could not be recognised as applied, because a second run would then do harm.
Judgement judge(const Patch& patch, const FileMap& before, TrialCache& cache);
Judgement judge(const Patch& patch, const FileMap& before);

}  // namespace patcher
