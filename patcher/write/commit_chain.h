#pragma once

#include <string>
#include <vector>

#include "patcher/git/repository.h"
#include "patcher/series/plan.h"

namespace patcher {

// Writes one commit for each patch that applies, each on the one before it and the first on `base`,
// with Subject and Why as the message. Objects only: no branch, index or work tree knows of them
// yet. REQUIRES a plan made on base's tree that is not refused. Throws BrokenEnvironment
// where nobody is named to commit as, saying what to set. Returns their ids, first to last.
std::vector<git_oid> write_commits(const Repository& repository, const Revision& base,
                                   const Plan& plan);

// The blob that a file's bytes are, and its mode in git.
git_oid blob_id(const FileState& state);
git_filemode_t git_mode(const FileState& state);

}  // namespace patcher
