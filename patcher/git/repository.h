#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "patcher/git/git_owned.h"

namespace patcher {

// A point in a repository's history, or a tree of it.
struct Revision {
  std::string asked = {};    // as the user wrote it
  git_oid tree = {};         // its whole tree, or the one that `REV:PATH` names
  std::string commit = {};   // 40 hex digits; empty when `asked` names a tree and no commit
  std::string summary = {};  // the commit's first line
  int64_t seconds = 0;       // when it was committed, since 1970
  bool is_whole = true;      // `tree` is the top of the repository's tree

  // "main (0123456789ab)".
  std::string display() const;
  // Of the commit. REQUIRES that there is one.
  git_oid id() const;
};

// A git repository, read and written through libgit2: no hook, filter, attribute or other program
// ever runs, and nothing of the user's or the system's git configuration decides anything, but for
// the author's name (see commit_chain). Which of them owns its directory does not matter either,
// since nothing in it is obeyed.
class Repository {
 public:
  // The one that `directory` lies in: its work tree, a directory below that, or a bare repository.
  // Throws BrokenEnvironment when there is none.
  static std::shared_ptr<const Repository> around(const std::string& directory);

  git_repository* get() const { return repository_.get(); }
  const std::string& directory() const { return directory_; }
  // Where the directory lies in the work tree: "" for its top and in a bare one, else with a `/` at
  // the end.
  const std::string& prefix() const { return prefix_; }

  // Any of git's spellings: a branch, a tag, `main~3`, an abbreviated id, `v1.2:subdirectory`.
  // Throws BrokenEnvironment when it names nothing, or no tree.
  Revision resolve(const std::string& rev) const;

  // A setting as git itself would find it: the repository's, the user's or the system's; empty when
  // there is none. For what is the user's own (a name), never for what decides bytes.
  std::string user_setting(const std::string& key) const;

 private:
  Repository(GitRepository repository, std::string directory);

  GitRepository repository_;
  std::string directory_;
  std::string prefix_;
};

// Throws BrokenEnvironment with libgit2's reason behind `asked` when `code` is an error.
void check_git(int code, std::string_view asked);
std::string hex(const git_oid& id);
// The commit, asked for by its name.
Revision revision_of(git_commit* commit);

}  // namespace patcher
