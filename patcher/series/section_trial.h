#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "patcher/hunk/locate.h"
#include "patcher/patch/patch.h"
#include "patcher/syntax/source.h"

namespace patcher {

// One operation or hunk, tried.
struct TrialPart {
  bool done = false;
  bool changes = false;  // it changes at least one byte
  size_t anchor_size = 0;
  std::string what = {};  // for messages: "hunk 2 of runtime/state.cpp (line 14)"
};

// What becomes of one file by one section of a patch, and why not.
struct SectionTrial {
  std::vector<TrialPart> parts = {};         // one a hunk
  std::vector<Finding> failures = {};        // all of them, not the first
  std::shared_ptr<const Source> after = {};  // null: a failure, or nobody asked for it
};

// Tries the section `change` of `patch` on a file; with `before` null, says that nothing was tried.
// kParts gives no result, unless the patch has a later section for the same file, which needs it.
// Touches nothing but the Source and what it makes of it: trials of different files may run at the
// same time.
SectionTrial try_section(const Patch& patch, const FileChange& change,
                         const std::shared_ptr<const Source>& before, ScopeRule rule,
                         Failures failures);

// Trials that were made before they are asked for, by what went in. Of one series: its patches have
// names of their own, a section is known by its line, and kUndo stands for the reversed patch.
class TrialCache {
 public:
  struct Key {
    std::shared_ptr<const Source> before;
    std::string patch;
    int line;
    ScopeRule rule;
    Failures failures;

    auto operator<=>(const Key&) const = default;
  };
  void add(Key key, SectionTrial trial) { trials_.emplace(std::move(key), std::move(trial)); }
  // Null if there is none.
  const SectionTrial* find(const Key& key) const;

 private:
  std::map<Key, SectionTrial> trials_;
};

}  // namespace patcher
