// The tensors of a model folder by name: one model.safetensors, or the shards that
// model.safetensors.index.json lists.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "model/safetensors.h"

namespace engine::model {

class TensorStore {
 public:
  // Throws ModelError; with an index, also if a shard lacks a tensor that the index says it has or
  // holds another, or if a shard's name is not a plain file name.
  static TensorStore open(const std::filesystem::path& dir);

  // Null if there is none. The data is this store's.
  const TensorView* find(std::string_view name) const;

  // Sorted by name.
  std::span<const TensorView* const> tensors() const { return by_name_; }
  std::span<const SafetensorsFile> files() const { return files_; }
  // The single file or the index: what errors about the whole name.
  const std::filesystem::path& path() const { return path_; }

 private:
  TensorStore(std::filesystem::path path, std::vector<SafetensorsFile> files);

  std::filesystem::path path_;
  std::vector<SafetensorsFile> files_;
  std::vector<const TensorView*> by_name_;
};

}  // namespace engine::model
