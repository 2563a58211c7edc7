#include "patcher/tree/file_map.h"

#include <algorithm>

#include "patcher/patch/patch.h"

namespace patcher {
namespace {

class DirectoryFiles : public FileOrigin {
 public:
  explicit DirectoryFiles(std::shared_ptr<const TreeRoot> root) : root_(std::move(root)) {}

  FileState read(const std::string& path) override {
    FileState state = root_->read(path);
    if (!state.exists()) return state;
    const auto [first, fresh] = paths_.emplace(state.identity, path);
    if (!fresh) state.same_file = first->second;
    return state;
  }

  std::vector<std::string> list() override { return root_->list(); }
  std::optional<std::string> peek(const std::string& path, size_t most) override {
    return root_->peek(path, most);
  }

 private:
  std::shared_ptr<const TreeRoot> root_;
  std::map<std::pair<dev_t, ino_t>, std::string> paths_;
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

const FileState* FileMap::put_at(const std::string& path) const {
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    const auto found = (*layer)->find(path);
    if (found != (*layer)->end()) return &found->second;
  }
  return nullptr;
}

std::map<std::string, const FileState*> FileMap::overlay() const {
  std::map<std::string, const FileState*> all;
  for (const auto& layer : layers_) {
    for (const auto& [path, state] : *layer)
      all[path] = &state;
  }
  return all;
}

FileState FileMap::get(const std::string& path) const {
  const FileState* made = put_at(path);
  return made != nullptr ? *made : on_disk(path);
}

void FileMap::put(const std::string& path, FileState state) {
  Layer top;
  top.emplace(path, std::move(state));
  for (; !layers_.empty() && layers_.back()->size() <= top.size(); layers_.pop_back())
    top.insert(layers_.back()->begin(), layers_.back()->end());  // keeps what is there already
  layers_.push_back(std::make_shared<const Layer>(std::move(top)));
}

std::vector<std::string> FileMap::list() const {
  if (!disk_->list) {
    disk_->list = disk_->origin->list();
    std::erase_if(*disk_->list, [](const std::string& path) { return !is_safe_path(path); });
  }
  const auto overlaid = overlay();
  std::vector<std::string> paths;
  for (const std::string& path : *disk_->list) {
    if (!overlaid.contains(path)) paths.push_back(path);
  }
  for (const auto& [path, state] : overlaid) {
    if (state->exists()) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::optional<std::string> FileMap::peek(const std::string& path, size_t most) const {
  const FileState* made = put_at(path);
  if (made == nullptr) return disk_->origin->peek(path, most);
  if (!made->exists() || made->source->bytes().size() > most) return std::nullopt;
  return made->source->bytes();
}

std::vector<std::string> FileMap::changed() const {
  std::vector<std::string> paths;
  for (const auto& [path, state] : overlay()) {
    if (!same_state(*state, on_disk(path))) paths.push_back(path);
  }
  return paths;
}

bool FileMap::same_as(const FileMap& other) const {
  const auto [mine, its] = std::mismatch(layers_.begin(), layers_.end(), other.layers_.begin(),
                                         other.layers_.end());  // below, both have the same
  const auto agrees = [&](const auto& layer) {
    return std::all_of(layer->begin(), layer->end(), [&](const auto& entry) {
      return same_state(get(entry.first), other.get(entry.first));
    });
  };
  return std::all_of(mine, layers_.end(), agrees) && std::all_of(its, other.layers_.end(), agrees);
}

}  // namespace patcher
