#pragma once

#include <git2.h>

#include <string>

#include "patcher/git/git_owned.h"
#include "patcher/git/repository.h"
#include "tests/patcher/scratch.h"

namespace patcher {

using GitIndex = GitOwned<git_index, git_index_free>;
using GitSignature = GitOwned<git_signature, git_signature_free>;

// A scratch directory whose tree is (in) a git repository of its own.
class GitScratch : public Scratch {
 public:
  // `top`: the repository's work tree; the tree itself, or a directory around it.
  explicit GitScratch(const std::string& top = "tree") : top_(directory() / top) {
    git_libgit2_init();
    git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
    options.flags = GIT_REPOSITORY_INIT_MKPATH;
    options.initial_head = "main";
    check_git(git_repository_init_ext(Receive(repository_), top_.c_str(), &options), "init");
  }

  git_repository* repository() const { return repository_.get(); }
  std::filesystem::path top() const { return top_; }

  // Commits the whole work tree on HEAD; `parent` besides HEAD makes it a merge. Returns its id.
  std::string commit(const std::string& message, const std::string& second_parent = "") {
    GitIndex index;
    check_git(git_repository_index(Receive(index), repository()), "index");
    check_git(git_index_read(index.get(), 1), "read");
    check_git(git_index_add_all(index.get(), nullptr, GIT_INDEX_ADD_FORCE, nullptr, nullptr),
              "add");
    check_git(git_index_update_all(index.get(), nullptr, nullptr, nullptr), "update");
    git_oid tree_id;
    check_git(git_index_write_tree(&tree_id, index.get()), "write tree");
    check_git(git_index_write(index.get()), "write");
    GitTree tree;
    check_git(git_tree_lookup(Receive(tree), repository(), &tree_id), "tree");
    GitSignature who;
    check_git(git_signature_new(Receive(who), "Upstream", "up@example.org", 1'700'000'000, 0),
              "signature");
    std::vector<GitCommit> parents;
    for (const std::string& name : {std::string("HEAD"), second_parent}) {
      GitObject parent;
      if (name.empty() || git_revparse_single(Receive(parent), repository(), name.c_str()) < 0) {
        continue;
      }
      parents.emplace_back(reinterpret_cast<git_commit*>(parent.release()));
    }
    std::vector<const git_commit*> raw;
    for (const GitCommit& parent : parents)
      raw.push_back(parent.get());
    git_oid id;
    check_git(git_commit_create(&id, repository(), "HEAD", who.get(), who.get(), nullptr,
                                message.c_str(), tree.get(), raw.size(), raw.data()),
              "commit");
    return hex(id);
  }

  // Another bare repository with the same objects.
  std::filesystem::path bare() const {
    const std::filesystem::path path = directory() / "bare.git";
    std::filesystem::copy(top_ / ".git", path, std::filesystem::copy_options::recursive);
    std::string config = read_bytes(path / "config");
    const std::string not_bare = "bare = false";
    config.replace(config.find(not_bare), not_bare.size(), "bare = true");
    write_bytes(path / "config", config);
    return path;
  }

  void configure(const std::string& key, const std::string& value) {
    git_config* config = nullptr;
    check_git(git_repository_config(&config, repository()), "config");
    const int code = git_config_set_string(config, key.c_str(), value.c_str());
    git_config_free(config);
    check_git(code, key);
  }

  std::string message_of(const std::string& rev) const {
    GitObject object;
    check_git(git_revparse_single(Receive(object), repository(), (rev + "^{commit}").c_str()), rev);
    return git_commit_message(reinterpret_cast<git_commit*>(object.get()));
  }
  std::string blob(const std::string& spec) const {
    GitObject object;
    if (git_revparse_single(Receive(object), repository(), spec.c_str()) < 0) return "(none)";
    const auto* blob = reinterpret_cast<git_blob*>(object.get());
    return {static_cast<const char*>(git_blob_rawcontent(blob)),
            static_cast<size_t>(git_blob_rawsize(blob))};
  }
  std::string id_of(const std::string& spec) const {
    GitObject object;
    if (git_revparse_single(Receive(object), repository(), spec.c_str()) < 0) return "(none)";
    return hex(*git_object_id(object.get()));
  }

 private:
  std::filesystem::path top_;
  GitRepository repository_;
};

}  // namespace patcher
