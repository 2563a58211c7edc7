#pragma once

#include <string>
#include <vector>

#include "patcher/git/repository.h"
#include "patcher/series/plan.h"

namespace patcher {

// apply --commit: one commit a patch.
struct Committed {
  std::string branch = {};                // "main", or "HEAD" where none is checked out
  std::vector<std::string> commits = {};  // ids, first to last; empty when nothing was to do
  size_t written = 0;                     // files of the work tree
};

// Commits on the branch that is checked out: the branch, the index and the work tree move together.
// Refuses, with a reason and nothing changed, staged changes, changes in the work tree to
// a file that a patch changes, and an unfinished merge or rebase. The branch's lock is taken first
// and the branch moves last: a run that was cut off before that is finished by the next one, which
// takes a file that already has the result for its own work.
//
// REQUIRES a plan made on `base`, which is HEAD, that is not refused. Throws BrokenEnvironment.
Committed commit_on_head(const Repository& repository, const Revision& base, const Plan& plan);

// Commits on a new branch that begins at `base`; neither index nor work tree is touched, so that a
// bare repository will do. Refuses a branch that exists. REQUIRES a plan made on `base` that is not
// refused. Throws BrokenEnvironment.
Committed commit_on_branch(const Repository& repository, const Revision& base, const Plan& plan,
                           const std::string& branch);

// Whether `branch` is the one that is checked out.
bool is_head(const Repository& repository, const std::string& branch);

}  // namespace patcher
