#include "patcher/write/commit_series.h"

#include <fmt/format.h>
#include <git2/transaction.h>

#include <algorithm>

#include "patcher/base/counted.h"
#include "patcher/base/error.h"
#include "patcher/write/commit_chain.h"
#include "patcher/write/journal.h"

namespace patcher {
namespace {

using GitIndex = GitOwned<git_index, git_index_free>;
using GitTransaction = GitOwned<git_transaction, git_transaction_free>;
using GitDiff = GitOwned<git_diff, git_diff_free>;

std::vector<std::string> hex_all(const std::vector<git_oid>& ids) {
  std::vector<std::string> out(ids.size());
  std::transform(ids.begin(), ids.end(), out.begin(), hex);
  return out;
}

std::string reflog_message(size_t patches) {
  return "patcher: " + counted(patches, "patch");
}

class HeadCommitter {
 public:
  HeadCommitter(const Repository& repository, const Revision& base, const Plan& plan)
      : repository_(repository),
        base_(base),
        plan_(plan),
        changed_(plan.result.changed()),
        root_(std::make_shared<const TreeRoot>(repository.directory())),
        tree_(root_) {}

  Committed run() {
    find_head();
    check_git(git_repository_index(Receive(index_), repository_.get()), "index");
    refuse_unfinished_work();
    refuse_staged_changes();
    refuse_changed_files();
    Committed out{.branch = branch_};
    const std::vector<git_oid> ids = write_commits(repository_, base_, plan_);
    if (ids.empty()) return out;
    lock_head();
    out.written = patcher::write_tree(*root_, tree_).size();
    try {
      update_index();
      move_head(ids);
    } catch (const BrokenEnvironment&) {
      restore();
      throw;
    }
    out.commits = hex_all(ids);
    return out;
  }

 private:
  void find_head() {
    if (git_repository_is_bare(repository_.get()) != 0) {
      throw BrokenEnvironment(fmt::format("{}: has no work tree; name a new branch with --branch",
                                          repository_.directory()));
    }
    GitReference head;
    check_git(git_repository_head(Receive(head), repository_.get()), "HEAD");
    reference_ = git_reference_name(head.get());
    branch_ = git_reference_shorthand(head.get());
  }

  void refuse_unfinished_work() const {
    if (git_repository_state(repository_.get()) == GIT_REPOSITORY_STATE_NONE) return;
    throw BrokenEnvironment(
        fmt::format("{}: a merge, rebase or the like is not finished", repository_.directory()));
  }

  void refuse_staged_changes() const {
    GitTree tree;
    check_git(git_tree_lookup(Receive(tree), repository_.get(), &base_.tree), base_.asked);
    git_diff_options options = GIT_DIFF_OPTIONS_INIT;
    options.flags = GIT_DIFF_IGNORE_SUBMODULES;
    GitDiff diff;
    check_git(git_diff_tree_to_index(Receive(diff), repository_.get(), tree.get(), index_.get(),
                                     &options),
              "index");
    for (size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i) {
      const git_diff_delta* delta = git_diff_get_delta(diff.get(), i);
      if (is_own_work(*delta)) continue;
      throw BrokenEnvironment(
          fmt::format("{}: has staged changes; commit or unstage them", delta->new_file.path));
    }
  }

  // Staged by a run that was cut off.
  bool is_own_work(const git_diff_delta& delta) const {
    const std::string path = delta.new_file.path;
    const auto own = std::find_if(changed_.begin(), changed_.end(), [&](const std::string& p) {
      return repository_.prefix() + p == path;
    });
    if (own == changed_.end()) return false;
    const FileState result = plan_.result.get(*own);
    if (!result.exists()) return delta.status == GIT_DELTA_DELETED;
    const git_oid id = blob_id(result);
    return git_oid_equal(&id, &delta.new_file.id) != 0;
  }

  // What is in the work tree must be what the patches were judged on. Fills tree_ with the result;
  // of the modes, git knows only whether a file is executable.
  void refuse_changed_files() {
    for (const std::string& path : changed_) {
      const FileState there = tree_.on_disk(path);
      FileState result = plan_.result.get(path);
      if (!there.unsafe.empty()) throw BrokenEnvironment(there.unsafe);
      if (!same_to_git(there, plan_.on_disk.get(path)) && !same_to_git(there, result)) {
        throw BrokenEnvironment(
            fmt::format("{}: differs from HEAD, and a patch changes it; commit or stash it", path));
      }
      if (there.exists() && result.exists() && git_mode(there) == git_mode(result)) {
        result.mode = there.mode;
      }
      tree_.put(path, result);
    }
  }

  static bool same_to_git(const FileState& a, const FileState& b) {
    if (!a.exists() || !b.exists()) return a.exists() == b.exists();
    return git_mode(a) == git_mode(b) && a.source->bytes() == b.source->bytes();
  }

  void lock_head() {
    check_git(git_transaction_new(Receive(transaction_), repository_.get()), reference_);
    check_git(git_transaction_lock_ref(transaction_.get(), reference_.c_str()), reference_);
    const Revision now = repository_.resolve("HEAD");
    if (now.commit == base_.commit) return;
    throw BrokenEnvironment(fmt::format("{}: moved while the patches were judged", reference_));
  }

  void update_index() const {
    for (const std::string& path : changed_) {
      const std::string full = repository_.prefix() + path;
      const FileState result = plan_.result.get(path);
      if (!result.exists()) {
        check_git(git_index_remove_bypath(index_.get(), full.c_str()), full);
        continue;
      }
      git_index_entry entry{};
      entry.mode = git_mode(result);
      entry.id = blob_id(result);
      entry.path = full.c_str();
      check_git(git_index_add(index_.get(), &entry), full);
    }
    check_git(git_index_write(index_.get()), "index");
  }

  void move_head(const std::vector<git_oid>& ids) const {
    check_git(git_transaction_set_target(transaction_.get(), reference_.c_str(), &ids.back(),
                                         nullptr, reflog_message(ids.size()).c_str()),
              reference_);
    check_git(git_transaction_commit(transaction_.get()), reference_);
  }

  void restore() const {
    FileMap back(root_);
    for (const std::string& path : changed_)
      back.put(path, tree_.on_disk(path));
    patcher::write_tree(*root_, back);
  }

  const Repository& repository_;
  const Revision& base_;
  const Plan& plan_;
  std::vector<std::string> changed_;
  std::shared_ptr<const TreeRoot> root_;
  FileMap tree_;  // the work tree, with the result
  std::string reference_;
  std::string branch_;
  GitIndex index_;
  GitTransaction transaction_;
};

}  // namespace

Committed commit_on_head(const Repository& repository, const Revision& base, const Plan& plan) {
  return HeadCommitter(repository, base, plan).run();
}

Committed commit_on_branch(const Repository& repository, const Revision& base, const Plan& plan,
                           const std::string& branch) {
  int valid = 0;
  check_git(git_branch_name_is_valid(&valid, branch.c_str()), branch);
  if (valid == 0) throw BrokenEnvironment(fmt::format("`{}` is no name for a branch", branch));
  const std::string reference = "refs/heads/" + branch;
  GitReference there;
  if (git_reference_lookup(Receive(there), repository.get(), reference.c_str()) == 0) {
    throw BrokenEnvironment(fmt::format("the branch {} exists already", branch));
  }
  const std::vector<git_oid> ids = write_commits(repository, base, plan);
  Committed out{.branch = branch, .commits = hex_all(ids)};
  if (ids.empty()) return out;
  GitReference made;
  check_git(git_reference_create(Receive(made), repository.get(), reference.c_str(), &ids.back(),
                                 /*force=*/0, reflog_message(ids.size()).c_str()),
            reference);
  return out;
}

bool is_head(const Repository& repository, const std::string& branch) {
  GitReference head;
  return git_reference_lookup(Receive(head), repository.get(), "HEAD") == 0 &&
         git_reference_type(head.get()) == GIT_REFERENCE_SYMBOLIC &&
         git_reference_symbolic_target(head.get()) == "refs/heads/" + branch;
}

}  // namespace patcher
