#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/hunk/anchor.h"
#include "patcher/patch/patch.h"
#include "patcher/syntax/source.h"
#include "patcher/text/edit.h"

namespace patcher {

// How strictly a hunk's scope is meant. kUndo serves reversed patches only: where the scope is not
// there (the patch itself renamed it) or does not hold the anchor, the whole file stands in; the
// caller proves the result by doing the patch again.
enum class ScopeRule { kStrict, kUndo };

// Why a hunk has no place in a file, as facts; explain.h makes sentences of them.
struct Unplaced {
  enum class Why {
    kUnreadable,  // the file's bytes or its tree cannot be read
    kNoToken,     // the anchor is comments and blanks
    kNoScopes,    // the file has no grammar, and the hunk names a scope
    kScopeMissing,
    kScopeShared,   // `sites`: where the scopes begin
    kScopeDamaged,  // at `byte` the scope's head does not parse
    kBeyondBudget,
    kNotThere,
    kNotOnce,        // `sites`: where the anchor is; the hunk states another count
    kNotTheStated,   // kUndo: at `byte` is one of several results, and not the stated one
    kDamaged,        // the anchor at `byte` is in a damaged parse
    kCommentAbsent,  // the comment `token` of the anchor that is at `byte` is not there
    kCommentLost,    // the comment at `byte` would go unlisted
    kAddedNear,      // what the hunk adds beside its one-sided anchor stands near it, at `byte`
    kLineEnds,       // the hunk changes line ends, and its lines are not there with theirs
  };
  Why why = Why::kNotThere;
  uint32_t byte = 0;
  uint32_t end = 0;  // kDamaged: of the anchor
  size_t token = 0;  // an index of the anchor's Side::tokens
  std::vector<uint32_t> sites = {};

  Verdict verdict() const;
};

// How much speaks for a place, what says more first.
struct PlaceEvidence {
  bool stated = false;    // each line stands where the diff says that it does
  size_t code = 0;        // tokens that matched
  bool verbatim = false;  // each line stands there as the diff has it
  size_t trivia = 0;      // removed comments and blank lines that matched

  auto operator<=>(const PlaceEvidence&) const = default;
};

// The one place of a hunk in one file, and what it changes there.
struct Placement {
  std::optional<Unplaced> failure = {};
  std::vector<ByteEdit> edits = {};  // empty after a failure
  PlaceEvidence evidence = {};
  bool damaged = false;  // the place does not parse: it was found by tokens or lines alone
  uint32_t begin = 0;    // bytes of the file
  uint32_t end = 0;
};

// Finds the hunk's one place and computes its edits. Every way in which there is not exactly one
// place, or the place must not be touched, is a failure. Where the search would take more than
// `steps`, that the place is the only one is not known.
Placement place_hunk(const Source& source, const Hunk& hunk, ScopeRule rule = ScopeRule::kStrict,
                     uint64_t steps = kMatchSteps);

}  // namespace patcher
