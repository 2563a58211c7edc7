#pragma once

#include <string>
#include <vector>

#include "patcher/git/repository.h"

namespace patcher {

// A stretch of upstream's history: `from` and every commit after it up to `to`, oldest first, along
// first parents only. A branch that was merged counts at its merge, as a whole, which is where the
// line that people follow got it.
struct History {
  std::string asked = {};              // "A..B"
  std::vector<Revision> commits = {};  // commits[0] is A, the last one is B
};

// `range` is "A..B", or "A.." up to HEAD. Throws BrokenEnvironment when an end names no commit, A
// is not on B's line of first parents, or the history ends before A (a shallow clone).
History first_parent_history(const Repository& repository, const std::string& range);

// What `git log --first-parent A..B` lists, oldest first: the commits of B's line of first parents
// that cannot be reached from A, which may have moved on since B left it. May be empty. Throws
// BrokenEnvironment when an end names no commit, the two have nothing in common, or the history
// ends before that (a shallow clone).
std::vector<Revision> commits_of_branch(const Repository& repository, const std::string& range);

// "2026-11-30", in UTC; "@SECONDS" for a time in no year that a calendar has.
std::string day(int64_t seconds);

}  // namespace patcher
