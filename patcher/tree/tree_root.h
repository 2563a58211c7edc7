#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "patcher/base/files.h"
#include "patcher/syntax/source.h"

namespace patcher {

// One path in one state of the tree.
struct FileState {
  std::shared_ptr<const Source> source = {};  // null: there is no such file
  mode_t mode = 0644;
  std::string unsafe = {};  // not empty: the path must not be touched, and why
  nlink_t links = 1;
  std::pair<dev_t, ino_t> identity = {};  // of a file on disk
  std::string same_file = {};  // not empty: an earlier read path that is the same file on disk

  bool exists() const { return source != nullptr; }
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
  FileState read(const std::string& path) const;
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
