#include "patcher/tree/file_map.h"

#include <algorithm>

#include "patcher/patch/patch.h"

namespace patcher {
namespace {

class DirectoryFiles : public FileOrigin {
 public:
  explicit DirectoryFiles(std::shared_ptr<const TreeRoot> root) : root_(std::move(root)) {}

  FileState read(const std::string& path) override {
    TreeFile file = root_->read(path);
    FileState state{.mode = file.mode, .unsafe = file.reason, .links = file.links};
    if (file.status == TreeFile::Status::kRead) {
      state.source = std::make_shared<Source>(path, std::move(file.bytes));
      const auto [first, fresh] = identity_.emplace(std::pair(file.device, file.inode), path);
      if (!fresh) state.same_file = first->second;
    }
    return state;
  }

  std::vector<std::string> list() override { return root_->list(); }
  std::optional<std::string> peek(const std::string& path, size_t most) override {
    return root_->peek(path, most);
  }

 private:
  std::shared_ptr<const TreeRoot> root_;
  std::map<std::pair<dev_t, ino_t>, std::string> identity_;
};

}  // namespace

bool same_state(const FileState& a, const FileState& b) {
  if (a.exists() != b.exists()) return false;
  if (!a.exists()) return true;
  return a.mode == b.mode && (a.source == b.source || a.source->bytes() == b.source->bytes());
}

FileMap::FileMap(std::shared_ptr<const TreeRoot> root)
    : FileMap(std::make_shared<DirectoryFiles>(std::move(root))) {}

FileMap::FileMap(std::shared_ptr<FileOrigin> origin) : disk_(std::make_shared<Disk>()) {
  disk_->origin = std::move(origin);
}

FileState FileMap::on_disk(const std::string& path) const {
  const auto known = disk_->read.find(path);
  if (known != disk_->read.end()) return known->second;
  return disk_->read.emplace(path, disk_->origin->read(path)).first->second;
}

FileState FileMap::get(const std::string& path) const {
  const auto made = overlay_.find(path);
  return made != overlay_.end() ? made->second : on_disk(path);
}

void FileMap::put(const std::string& path, FileState state) {
  overlay_[path] = std::move(state);
}

std::vector<std::string> FileMap::list() const {
  if (!disk_->list) {
    disk_->list = disk_->origin->list();
    std::erase_if(*disk_->list, [](const std::string& path) { return !is_safe_path(path); });
  }
  std::vector<std::string> paths;
  for (const std::string& path : *disk_->list) {
    if (!overlay_.contains(path)) paths.push_back(path);
  }
  for (const auto& [path, state] : overlay_) {
    if (state.exists()) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::optional<std::string> FileMap::peek(const std::string& path, size_t most) const {
  const auto made = overlay_.find(path);
  if (made == overlay_.end()) return disk_->origin->peek(path, most);
  const FileState& state = made->second;
  if (!state.exists() || state.source->bytes().size() > most) return std::nullopt;
  return state.source->bytes();
}

std::vector<std::string> FileMap::changed() const {
  std::vector<std::string> paths;
  for (const auto& [path, state] : overlay_) {
    if (!same_state(state, on_disk(path))) paths.push_back(path);
  }
  return paths;
}

bool FileMap::same_as(const FileMap& other) const {
  const auto agrees = [&](const auto& entry) {
    return same_state(get(entry.first), other.get(entry.first));
  };
  return std::all_of(overlay_.begin(), overlay_.end(), agrees) &&
         std::all_of(other.overlay_.begin(), other.overlay_.end(), agrees);
}

}  // namespace patcher
