#include "patcher/git/history.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "patcher/base/error.h"

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

struct Range {
  Revision from;
  Revision to;
};

Range parse_range(const Repository& repository, const std::string& range) {
  const size_t dots = range.find("..");
  if (dots == std::string::npos || dots == 0 || range.find("...") != std::string::npos) {
    throw BrokenEnvironment(fmt::format("{}: a range is written A..B", range));
  }
  const std::string last = range.substr(dots + 2);
  return {.from = resolve_commit(repository, range.substr(0, dots)),
          .to = resolve_commit(repository, last.empty() ? "HEAD" : last)};
}

// `to` and its first parents down to the first that `last` takes, which is in it too; newest first.
// Nothing when the line ends before.
template <typename Last>
std::optional<std::vector<Revision>> line_down_to(const Repository& repository, const Revision& to,
                                                  Last last) {
  std::vector<Revision> line;
  git_oid id = to.id();
  for (std::string after = to.asked;;) {
    const GitCommit commit = look_up(repository, id, after);
    line.push_back(revision_of(commit.get()));
    if (last(line.back())) return line;
    if (git_commit_parentcount(commit.get()) == 0) return std::nullopt;
    after = line.back().commit;
    id = *git_commit_parent_id(commit.get(), 0);
  }
}

// The line from B down to the first commit that can be reached from A.
std::optional<std::vector<Revision>> line_to_fork(const Repository& repository, const Range& ends,
                                                  const std::string& range) {
  const git_oid from = ends.from.id();
  return line_down_to(repository, ends.to, [&](const Revision& commit) {
    if (commit.commit == ends.from.commit) return true;
    const git_oid id = commit.id();
    const int reached = git_graph_descendant_of(repository.get(), &from, &id);
    // In a shallow clone what lies behind A is not known; then A has to be met.
    if (reached != GIT_ENOTFOUND) check_git(reached, range);
    return reached == 1;
  });
}

}  // namespace

History first_parent_history(const Repository& repository, const std::string& range) {
  const Range ends = parse_range(repository, range);
  auto line = line_down_to(repository, ends.to, [&](const Revision& commit) {
    return commit.commit == ends.from.commit;
  });
  if (!line) {
    const auto left = line_to_fork(repository, ends, range);
    throw BrokenEnvironment(fmt::format(
        "{}: {} is not on the line of first parents of {}{}", range, ends.from.display(),
        ends.to.display(), left ? "; it left that line at " + left->back().commit : ""));
  }
  std::reverse(line->begin(), line->end());
  return {.asked = range, .commits = std::move(*line)};
}

std::vector<Revision> commits_of_branch(const Repository& repository, const std::string& range) {
  const Range ends = parse_range(repository, range);
  auto line = line_to_fork(repository, ends, range);
  if (!line) {
    throw BrokenEnvironment(
        fmt::format("{}: {} shares no commit with the line of first parents of {}", range,
                    ends.from.display(), ends.to.display()));
  }
  line->pop_back();
  std::reverse(line->begin(), line->end());
  return std::move(*line);
}

std::string day(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm date{};
  if (gmtime_r(&time, &date) == nullptr) return fmt::format("@{}", seconds);
  return fmt::format("{:%Y-%m-%d}", date);
}

}  // namespace patcher
