#include "patcher/git/repository.h"

#include <fmt/format.h>

#include <filesystem>

#include "patcher/base/error.h"
#include "patcher/base/libgit2.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

// Where the user's and the system's configuration is looked for: "" for nowhere, null for where git
// looks.
void search_configuration(const char* where) {
  for (const int level : {GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL,
                          GIT_CONFIG_LEVEL_PROGRAMDATA}) {
    git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, where);
  }
}

// libgit2 for repositories that need not be the user's.
void start_reading() {
  start_libgit2();
  search_configuration("");
  git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
  // As git itself: what is read is checked by the pack's own sums, and not hashed again.
  git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
}

// Links resolved, as libgit2 gives its own paths; with a `/` at the end.
std::string real_directory(const std::string& directory) {
  std::error_code error;
  const fs::path real = fs::canonical(directory, error);
  if (error) throw BrokenEnvironment(fmt::format("{}: {}", directory, error.message()));
  std::string text = real.string();
  if (!text.ends_with('/')) text += '/';
  return text;
}

std::string prefix_of(git_repository* repository, const std::string& directory) {
  const char* work_tree = git_repository_workdir(repository);
  if (work_tree == nullptr) return {};
  const std::string here = real_directory(directory);
  const std::string top = real_directory(work_tree);
  if (here.starts_with(real_directory(git_repository_path(repository)))) return {};
  return here.starts_with(top) ? here.substr(top.size()) : std::string();
}

}  // namespace

void check_git(int code, std::string_view asked) {
  if (code >= 0) return;
  const git_error* error = git_error_last();
  throw BrokenEnvironment(
      fmt::format("{}: {}", asked, error != nullptr ? error->message : "libgit2 gives no reason"));
}

std::string hex(const git_oid& id) {
  char text[GIT_OID_HEXSZ + 1];
  return git_oid_tostr(text, sizeof text, &id);
}

std::string Revision::display() const {
  return commit.empty() ? asked : fmt::format("{} ({})", asked, commit.substr(0, 12));
}

git_oid Revision::id() const {
  git_oid out;
  check_git(git_oid_fromstr(&out, commit.c_str()), commit);
  return out;
}

Revision revision_of(git_commit* commit) {
  const char* summary = git_commit_summary(commit);
  Revision out{.tree = *git_commit_tree_id(commit),
               .commit = hex(*git_commit_id(commit)),
               .summary = summary != nullptr ? summary : "",
               .seconds = git_commit_time(commit)};
  out.asked = out.commit;
  return out;
}

Repository::Repository(GitRepository repository, std::string directory)
    : repository_(std::move(repository)),
      directory_(std::move(directory)),
      prefix_(prefix_of(repository_.get(), directory_)) {}

std::shared_ptr<const Repository> Repository::around(const std::string& directory) {
  start_reading();
  GitRepository repository;
  const int code = git_repository_open_ext(Receive(repository), real_directory(directory).c_str(),
                                           GIT_REPOSITORY_OPEN_CROSS_FS, nullptr);
  if (code == GIT_ENOTFOUND) {
    throw BrokenEnvironment(fmt::format("{}: is in no git repository", directory));
  }
  check_git(code, directory);
  return std::shared_ptr<const Repository>(new Repository(std::move(repository), directory));
}

Revision Repository::resolve(const std::string& rev) const {
  GitObject named;
  const int code = git_revparse_single(Receive(named), get(), rev.c_str());
  if (code == GIT_EAMBIGUOUS) {
    throw BrokenEnvironment(fmt::format("{}: more than one object begins like this", rev));
  }
  if (code == GIT_ENOTFOUND || code == GIT_EINVALIDSPEC) {
    throw BrokenEnvironment(fmt::format("{}: there is no such revision in {}", rev, directory_));
  }
  check_git(code, rev);
  GitObject tree;
  if (git_object_peel(Receive(tree), named.get(), GIT_OBJECT_TREE) < 0) {
    throw BrokenEnvironment(fmt::format("{}: names no commit or directory", rev));
  }
  Revision out;
  GitObject commit;
  out.is_whole = git_object_peel(Receive(commit), named.get(), GIT_OBJECT_COMMIT) == 0;
  if (out.is_whole) out = revision_of(reinterpret_cast<git_commit*>(commit.get()));
  out.asked = rev;
  out.tree = *git_object_id(tree.get());
  return out;
}

std::string Repository::user_setting(const std::string& key) const {
  using GitConfig = GitOwned<git_config, git_config_free>;
  search_configuration(nullptr);
  GitRepository again;
  GitConfig config;
  int code = git_repository_open(Receive(again), git_repository_path(get()));
  if (code == 0) code = git_repository_config_snapshot(Receive(config), again.get());
  search_configuration("");
  check_git(code, key);
  const char* value = nullptr;
  if (git_config_get_string(&value, config.get(), key.c_str()) < 0) return {};
  return value;
}

}  // namespace patcher
