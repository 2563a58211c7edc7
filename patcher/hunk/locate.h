#pragma once

#include <optional>
#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/hunk/anchor.h"
#include "patcher/hunk/rewrite.h"
#include "patcher/patch/patch.h"
#include "patcher/syntax/source.h"

namespace patcher {

// How strictly a hunk's scope is meant. kUndo serves reversed patches only: where the scope is not
// there (the patch itself renamed it) or does not hold the anchor, the whole file stands in; the
// caller proves the result by doing the patch again.
enum class ScopeRule { kStrict, kUndo };

// What a trial is for. kAll reports everything that is wrong and where else the anchor is;
// kVerdict finds the same failures, but nobody reads more of them than their verdicts; kParts asks
// only which parts are done; kFirst ends at the first failure, and then only that it failed means
// anything.
enum class Failures { kAll, kVerdict, kParts, kFirst };

// What became of one hunk in one file.
struct HunkResult {
  std::optional<Finding> failure = {};
  std::vector<Finding> notes = {};
  std::vector<ByteEdit> edits = {};  // empty after a failure
  size_t anchor_size = 0;            // tokens, and removed comments and blank lines, that matched
  Place site = {};
  uint32_t site_begin = 0;  // bytes of the file; both 0 when there is no one place
  uint32_t site_end = 0;
};

// Finds the hunk's one place and computes its edits. Every way in which there is not exactly one
// place, or the place must not be touched, is a failure with a verdict, a place and candidates.
// Where the search would take more than `steps`, that the place is the only one is not known.
HunkResult locate_hunk(const Source& source, const Hunk& hunk, ScopeRule rule,
                       Failures failures = Failures::kAll, uint64_t steps = kMatchSteps);

}  // namespace patcher
