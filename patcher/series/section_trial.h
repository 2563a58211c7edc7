#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "patcher/hunk/place.h"
#include "patcher/patch/patch.h"
#include "patcher/syntax/source.h"

namespace patcher {

// One operation or hunk, tried.
struct TrialPart {
  bool done = false;
  bool changes = false;  // it changes at least one byte
  bool damaged = false;  // its place does not parse
  PlaceEvidence evidence = {};
  std::string what = {};  // for messages: "hunk 2 of runtime/state.cpp (line 14)"
};

// Why a part of a patch cannot be done. Of a hunk without a place, what it takes to explain that;
// the finding then has the verdict and where the patch says so, and nothing to read.
struct TrialFailure {
  Finding finding = {};
  std::shared_ptr<const Source> source = {};  // null: the finding says all
  Hunk hunk = {};
  ScopeRule rule = ScopeRule::kStrict;
  Unplaced unplaced = {};
};

// What a person reads about it.
Finding explained(const TrialFailure& failure);
std::vector<Finding> explained(const std::vector<TrialFailure>& failures);

// The places of one section of a patch in one file, and what it changes there.
struct SectionTrial {
  std::vector<TrialPart> parts = {};        // one a hunk
  std::vector<TrialFailure> failures = {};  // all of them, not the first
  std::vector<ByteEdit> edits = {};         // sorted
};

// The file with a section's edits done, or why it must not become that.
struct SectionResult {
  std::shared_ptr<const Source> after = {};
  std::optional<Finding> failure = {};
  std::optional<Finding> note = {};  // it may, and a person should know this
};

// Trials by what went in, so that none is made twice. Of one series: its patches have names of
// their own, a section is known by its line, and kUndo stands for the reversed patch.
class TrialCache {
 public:
  // Tries the section `change` of `patch` on a file; with `before` null, says that nothing was
  // tried.
  const SectionTrial& trial(const Patch& patch, const FileChange& change,
                            const std::shared_ptr<const Source>& before, ScopeRule rule);
  // What that trial makes of the file. REQUIRES that it has no failures.
  const SectionResult& result(const Patch& patch, const FileChange& change,
                              const std::shared_ptr<const Source>& before, ScopeRule rule);
  void merge(TrialCache&& other) { known_.merge(other.known_); }
  size_t size() const { return known_.size(); }

 private:
  struct Key {
    std::shared_ptr<const Source> before;
    std::string patch;
    int line;
    ScopeRule rule;

    auto operator<=>(const Key&) const = default;
  };
  struct Known {
    SectionTrial trial = {};
    std::optional<SectionResult> result = {};  // once it was asked for
  };
  Known& known(const Patch& patch, const FileChange& change,
               const std::shared_ptr<const Source>& before, ScopeRule rule);

  std::map<Key, Known> known_;
};

}  // namespace patcher
