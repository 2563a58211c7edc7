#pragma once

#include <git2.h>

#include <memory>
#include <string_view>

namespace patcher {

// What libgit2 hands out, freed by its own function.
template <typename T, void (*kFree)(T*)>
struct GitFree {
  void operator()(T* thing) const { kFree(thing); }
};
template <typename T, void (*kFree)(T*)>
using GitOwned = std::unique_ptr<T, GitFree<T, kFree>>;

using GitRepository = GitOwned<git_repository, git_repository_free>;
using GitObject = GitOwned<git_object, git_object_free>;
using GitCommit = GitOwned<git_commit, git_commit_free>;
using GitTree = GitOwned<git_tree, git_tree_free>;
using GitTreeEntry = GitOwned<git_tree_entry, git_tree_entry_free>;
using GitBlob = GitOwned<git_blob, git_blob_free>;
using GitReference = GitOwned<git_reference, git_reference_free>;

// Borrowed of the blob.
inline std::string_view blob_bytes(const git_blob* blob) {
  return {static_cast<const char*>(git_blob_rawcontent(blob)),
          static_cast<size_t>(git_blob_rawsize(blob))};
}

// Receives what libgit2 returns through its first argument:
//   GitTree tree;
//   check(git_tree_lookup(Receive(tree), ...), "...");
template <typename Owned>
class Receive {
 public:
  explicit Receive(Owned& owned) : owned_(owned) {}
  ~Receive() { owned_.reset(raw_); }
  Receive(const Receive&) = delete;
  Receive& operator=(const Receive&) = delete;
  operator typename Owned::pointer *() { return &raw_; }  // NOLINT(google-explicit-constructor)

 private:
  Owned& owned_;
  typename Owned::pointer raw_ = nullptr;
};

}  // namespace patcher
