#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patcher/git/repository.h"
#include "patcher/series/plan.h"

namespace patcher {

struct Person {
  std::string name = {};
  std::string email = {};
};

// Who commits: GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL (or GIT_COMMITTER_...), else user.name and
// user.email of the repository's, the user's or the system's configuration, which is all that is
// ever read from the last two. Throws BrokenEnvironment, saying what to set, when there is none.
Person identity(const Repository& repository, const std::string& role);

// Writes one commit for each patch that applies, each on the one before it and the first on `base`,
// with Subject and Why as the message. Objects only: no branch, index or work tree knows of them
// yet. REQUIRES a plan made on base's tree that is not refused. Returns their ids, first to last.
std::vector<git_oid> write_commits(const Repository& repository, const Revision& base,
                                   const Plan& plan);

// The blob that a file's bytes are, and its mode in git.
git_oid blob_id(const FileState& state);
git_filemode_t git_mode(const FileState& state);

}  // namespace patcher
