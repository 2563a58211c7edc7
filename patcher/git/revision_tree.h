#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "patcher/git/repository.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// The version of each path that was read last, so that the trees of one history share the parse of
// a file that did not change between them. For one thread, and the one repository.
struct BlobSource {
  git_oid id = {};
  std::shared_ptr<const Source> source = {};
};
using BlobSources = std::map<std::string, BlobSource>;

// What a path of a tree holds, without its content: equal where nothing that a patch is judged on
// differs.
struct TreeFileId {
  git_oid blob = {};  // null when there is no file that a patch may touch
  git_filemode_t mode = GIT_FILEMODE_UNREADABLE;

  bool operator==(const TreeFileId& other) const {
    return mode == other.mode && git_oid_equal(&blob, &other.blob) != 0;
  }
};

// The files of one revision, straight from the object database: nothing is checked out, written, or
// filtered. Paths are relative to the repository's prefix, as they are to a directory. Links and
// submodules are unsafe paths, as on disk.
class RevisionTree : public FileOrigin {
 public:
  // Throws BrokenEnvironment when the revision does not have the directory that prefix() names.
  RevisionTree(std::shared_ptr<const Repository> repository, const Revision& revision,
               std::shared_ptr<BlobSources> sources = std::make_shared<BlobSources>());

  FileState read(const std::string& path) override;
  std::vector<std::string> list() override;
  std::optional<std::string> peek(const std::string& path, size_t most) override;
  // Cheap: no content is read.
  TreeFileId id_at(const std::string& path);

 private:
  struct Entry {
    bool found = false;
    git_oid id = {};
    git_filemode_t mode = GIT_FILEMODE_UNREADABLE;
    std::string unsafe = {};
  };
  Entry find(const std::string& path);
  git_tree* tree(const git_oid& id);
  std::shared_ptr<const Source> source(const std::string& path, const git_oid& id);

  std::shared_ptr<const Repository> repository_;
  std::string name_;
  git_oid top_ = {};
  std::shared_ptr<BlobSources> sources_;
  std::map<std::string, GitTree> trees_;  // by id
};

}  // namespace patcher
