#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/base/descriptor.h"

namespace patcher {

// What reading one path of the tree gave.
struct TreeFile {
  enum class Status { kRead, kMissing, kUnsafe };
  Status status = Status::kMissing;
  std::string bytes = {};
  mode_t mode = 0644;
  dev_t device = 0;
  ino_t inode = 0;
  nlink_t links = 1;
  std::string reason = {};  // kUnsafe: which component is what
};

// The directory that --root names. Every path is taken component by component from its descriptor
// and no link is ever followed, so that nothing outside of it can be read or written whatever a
// patch says or an earlier patch made.
class TreeRoot {
 public:
  // Throws BrokenEnvironment when it is no directory.
  explicit TreeRoot(const std::string& directory);

  const std::string& directory() const { return directory_; }
  int descriptor() const { return root_.get(); }
  // REQUIRES is_safe_path(path). Throws BrokenEnvironment for an I/O error.
  TreeFile read(const std::string& path) const;
  // The bytes of a regular file of at most `most`; nothing for any other, or one that cannot be
  // read.
  std::optional<std::string> peek(const std::string& path, size_t most) const;
  // Paths of the regular files, sorted, without git's own. What cannot be listed is left out.
  std::vector<std::string> list() const;
  // The directory that holds `path`; an empty descriptor with errno set when it is not there or not
  // safe. With `create`, makes missing directories.
  Descriptor parent(std::string_view path, bool create = false) const;

 private:
  std::string directory_;
  Descriptor root_;
};

std::string_view last_component(std::string_view path);

}  // namespace patcher
