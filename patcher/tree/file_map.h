#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "patcher/tree/tree_root.h"

namespace patcher {

// Where the files of a tree that no patch has touched come from: a directory, or a revision's
// objects; this one has none. FileMap asks for each path once.
class FileOrigin {
 public:
  virtual ~FileOrigin() = default;
  // REQUIRES is_safe_path(path). Throws BrokenEnvironment when it cannot be read.
  virtual FileState read(const std::string& /*path*/) { return {}; }
  // Its regular files' paths, sorted; never through a link.
  virtual std::vector<std::string> list() { return {}; }
  // The bytes of one of them, if they are at most `most` and can be read.
  virtual std::optional<std::string> peek(const std::string&, size_t /*most*/) { return {}; }
};

// A state of the whole tree in memory: what its origin has ("on disk"), overlaid by what patches
// made of it. Copies are cheap and independent, whatever number of files was changed; they share
// what was read, so that each file is read and parsed once.
class FileMap {
 public:
  explicit FileMap(std::shared_ptr<const TreeRoot> root);
  explicit FileMap(std::shared_ptr<FileOrigin> origin);

  // REQUIRES is_safe_path(path).
  FileState get(const std::string& path) const;
  void put(const std::string& path, FileState state);
  // For looking through the whole tree: the paths that is_safe_path(), sorted, and a file's bytes
  // unless they are more than `most` or cannot be read. Nothing of it is kept but the list.
  std::vector<std::string> list() const;
  std::optional<std::string> peek(const std::string& path, size_t most) const;
  // What is on disk, without the overlay.
  FileState on_disk(const std::string& path) const;

  // Paths whose bytes, mode or existence differ from those on disk, in order.
  std::vector<std::string> changed() const;
  // Whether both states give the same bytes and modes.
  bool same_as(const FileMap& other) const;

 private:
  struct Disk {
    std::shared_ptr<FileOrigin> origin = {};
    std::map<std::string, FileState> read = {};
    std::optional<std::vector<std::string>> list = {};  // once it was asked for
  };
  using Layer = std::map<std::string, FileState>;

  // What was put at the path last; null if nothing was.
  const FileState* put_at(const std::string& path) const;
  // All that was put, by path.
  std::map<std::string, const FileState*> overlay() const;

  std::shared_ptr<Disk> disk_;
  // What was put, in layers that copies share: a later one counts before an earlier one, which is
  // larger, so that there are few.
  std::vector<std::shared_ptr<const Layer>> layers_;
};

bool same_state(const FileState& a, const FileState& b);

}  // namespace patcher
