#include "patcher/import/import_commits.h"

#include <fmt/format.h>

#include "patcher/base/error.h"
#include "patcher/git/history.h"

namespace patcher {
namespace {

using GitDiff = GitOwned<git_diff, git_diff_free>;

class CommitImport {
 public:
  CommitImport(const Repository& repository, const Revision& revision, size_t number)
      : repository_(repository), revision_(revision), number_(number) {}

  SeriesImport::Item run() {
    read_commit();
    SeriesImport::Item item{.name = change_.name};
    read_files();
    if (!errors_.empty()) {
      item.imported.errors = errors_;
    } else {
      item.imported = import_change(change_);
    }
    return item;
  }

 private:
  void read_commit() {
    const git_oid id = revision_.id();
    check_git(git_commit_lookup(Receive(commit_), repository_.get(), &id), revision_.display());
    change_.subject = revision_.summary;
    const char* body = git_commit_body(commit_.get());
    change_.why = body != nullptr ? body : "";
    change_.name = patch_file_name(number_, change_.subject);
  }

  void read_files() {
    GitTree before;
    GitTree after;
    check_git(git_commit_tree(Receive(after), commit_.get()), revision_.display());
    if (git_commit_parentcount(commit_.get()) > 0) {
      GitCommit parent;
      check_git(git_commit_parent(Receive(parent), commit_.get(), 0), revision_.display());
      check_git(git_commit_tree(Receive(before), parent.get()), revision_.display());
    }
    GitDiff diff;
    check_git(
        git_diff_tree_to_tree(Receive(diff), repository_.get(), before.get(), after.get(), nullptr),
        revision_.display());
    git_diff_find_options renames = GIT_DIFF_FIND_OPTIONS_INIT;
    renames.flags = GIT_DIFF_FIND_RENAMES;
    check_git(git_diff_find_similar(diff.get(), &renames), revision_.display());
    for (size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i)
      add(*git_diff_get_delta(diff.get(), i));
  }

  void add(const git_diff_delta& delta) {
    FileVersions file;
    if (delta.status != GIT_DELTA_ADDED) {
      file.path_before = inner_path(delta.old_file);
      file.mode_before = delta.old_file.mode;
      file.before = bytes(delta.old_file);
    }
    if (delta.status != GIT_DELTA_DELETED) {
      file.path_after = inner_path(delta.new_file);
      file.mode_after = delta.new_file.mode;
      file.after = bytes(delta.new_file);
    }
    change_.files.push_back(std::move(file));
  }

  std::string inner_path(const git_diff_file& file) {
    std::string path = file.path;
    const std::string& prefix = repository_.prefix();
    if (path.starts_with(prefix)) return path.substr(prefix.size());
    errors_.push_back(Finding::of(Verdict::kUnsafePath, at_line(change_.name),
                                  fmt::format("{} changes it, and it lies outside of {}",
                                              revision_.commit.substr(0, 12), prefix),
                                  {.file = path}));
    return path;
  }

  // Of a submodule there is no content here; its mode refuses it.
  std::string bytes(const git_diff_file& file) const {
    if (file.mode == GIT_FILEMODE_COMMIT) return {};
    GitBlob blob;
    check_git(git_blob_lookup(Receive(blob), repository_.get(), &file.id), file.path);
    return std::string(blob_bytes(blob.get()));
  }

  const Repository& repository_;
  const Revision& revision_;
  size_t number_;
  GitCommit commit_;
  SourceChange change_;
  std::vector<Finding> errors_;
};

std::vector<Revision> commits_of(const Repository& repository, const std::string& spec) {
  if (spec.find("..") == std::string::npos) {
    Revision revision = repository.resolve(spec);
    if (revision.commit.empty()) throw BrokenEnvironment(fmt::format("{}: is no commit", spec));
    return {revision};
  }
  std::vector<Revision> commits = commits_of_branch(repository, spec);
  if (commits.empty()) throw BrokenEnvironment(fmt::format("{}: holds no commit", spec));
  return commits;
}

}  // namespace

SeriesImport import_commits(const Repository& repository, const std::string& spec) {
  SeriesImport series;
  for (const Revision& revision : commits_of(repository, spec)) {
    SeriesImport::Item item = CommitImport(repository, revision, series.patches.size() + 1).run();
    series.errors.insert(series.errors.end(), item.imported.errors.begin(),
                         item.imported.errors.end());
    series.patches.push_back(std::move(item));
  }
  return series;
}

}  // namespace patcher
