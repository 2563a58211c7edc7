#include "patcher/history.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "patcher/error.h"

namespace patcher {
namespace {

Revision resolve_commit(const Repository& repository, const std::string& name) {
  Revision revision = repository.resolve(name);
  if (revision.commit.empty()) throw BrokenEnvironment(fmt::format("{}: is no commit", name));
  return revision;
}

GitCommit look_up(const Repository& repository, const git_oid& id, std::string_view after) {
  GitCommit commit;
  const int code = git_commit_lookup(Receive(commit), repository.get(), &id);
  if (code == GIT_ENOTFOUND) {
    throw BrokenEnvironment(fmt::format(
        "{}: its parent {} is not in the repository (a shallow clone?)", after, hex(id)));
  }
  check_git(code, hex(id));
  return commit;
}

Revision revision_of(const git_commit* commit) {
  const char* summary = git_commit_summary(const_cast<git_commit*>(commit));
  Revision out{.tree = *git_commit_tree_id(commit),
               .commit = hex(*git_commit_id(commit)),
               .summary = summary != nullptr ? summary : "",
               .seconds = git_commit_time(commit)};
  out.asked = out.commit;
  return out;
}

}  // namespace

History first_parent_history(const Repository& repository, const std::string& range) {
  const size_t dots = range.find("..");
  if (dots == std::string::npos || dots == 0 || range.find("...") != std::string::npos) {
    throw BrokenEnvironment(fmt::format("{}: a range is written A..B", range));
  }
  const std::string last = range.substr(dots + 2);
  const Revision from = resolve_commit(repository, range.substr(0, dots));
  const Revision to = resolve_commit(repository, last.empty() ? "HEAD" : last);
  History history{.asked = range};
  git_oid id;
  check_git(git_oid_fromstr(&id, to.commit.c_str()), to.commit);
  for (std::string after = last;;) {
    const GitCommit commit = look_up(repository, id, after);
    history.commits.push_back(revision_of(commit.get()));
    after = history.commits.back().commit;
    if (after == from.commit) break;
    if (git_commit_parentcount(commit.get()) == 0) {
      throw BrokenEnvironment(fmt::format("{}: {} is not on the line of first parents of {}", range,
                                          from.display(), to.display()));
    }
    id = *git_commit_parent_id(commit.get(), 0);
  }
  std::reverse(history.commits.begin(), history.commits.end());
  return history;
}

std::string day(int64_t seconds) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

}  // namespace patcher
