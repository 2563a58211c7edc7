// The tensors of a model folder by name: one model.safetensors, or the shards that
// model.safetensors.index.json lists.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "model/safetensors.h"
#include "model/weight_scales.h"

namespace engine::model {

class TensorStore {
 public:
  // Throws ModelError; with an index, also if a shard lacks a tensor that the index says it has or
  // holds another, or if a shard's name is not a plain file name. Weights that are quantised by
  // something else than FP8 are refused by its name.
  static TensorStore open(const std::filesystem::path& dir);

  // Null if there is none. The data is this store's.
  const TensorView* find(std::string_view name) const;

  // Lets the system take back the memory of values of this store's; a later access reads them from
  // the file again. Nothing for others.
  void release(std::span<const std::byte> values) const;

  // Sorted by name.
  std::span<const TensorView* const> tensors() const { return by_name_; }
  std::span<const SafetensorsFile> files() const { return files_; }
  // Of FP8 weights' scales, if config.json says it.
  const std::optional<BlockSize>& block_size() const { return block_size_; }
  // The single file or the index: what errors about the whole name.
  const std::filesystem::path& path() const { return path_; }

 private:
  TensorStore(std::filesystem::path path, std::vector<SafetensorsFile> files,
              std::optional<BlockSize> block_size);

  std::filesystem::path path_;
  std::vector<SafetensorsFile> files_;
  std::optional<BlockSize> block_size_;
  std::vector<const TensorView*> by_name_;
};

}  // namespace engine::model
