#include "model/tensor_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "model/json_file.h"

namespace engine::model {
namespace {

constexpr std::size_t kMaxIndexBytes = 64U << 20U;
using Names = std::set<std::string, std::less<>>;

// Each shard's file name with the tensors that the index says it holds.
std::map<std::string, Names> read_index(const std::filesystem::path& path) {
  const nlohmann::json json = parse_json(read_file(path, kMaxIndexBytes), path);
  const JsonNode map = JsonNode(json, path).at("weight_map");
  map.require_object();
  if (map.value().empty()) map.fail("names no tensor");
  std::map<std::string, Names> shards;
  for (const auto& [tensor, unused] : map.value().items()) {
    const std::string shard = map.at(tensor).string();
    if (shard.empty() || shard == ".." ||
        shard.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
      map.at(tensor).fail_expected("a file name without a folder");
    }
    shards[shard].insert(tensor);
  }
  return shards;
}

void check_shard(const SafetensorsFile& shard, const Names& expected,
                 const std::filesystem::path& index) {
  Names found;
  for (const TensorView& tensor : shard.tensors())
    found.insert(tensor.name);
  const std::string file = shard.path().filename().string();
  for (const std::string& name : expected) {
    if (!found.contains(name)) {
      throw ModelError(index, fmt::format("{} is said to be in {}, which lacks it", name, file));
    }
  }
  for (const std::string& name : found) {
    if (!expected.contains(name)) {
      throw ModelError(index, fmt::format("{} holds {}, which the index does not say", file, name));
    }
  }
}

}  // namespace

TensorStore TensorStore::open(const std::filesystem::path& dir) {
  const std::filesystem::path single = dir / "model.safetensors";
  const std::filesystem::path index = dir / "model.safetensors.index.json";
  const std::optional<BlockSize> block_size = read_block_size(dir / "config.json");
  std::vector<SafetensorsFile> files;
  if (std::filesystem::exists(single) || !std::filesystem::exists(index)) {
    files.push_back(SafetensorsFile::open(single));
    return TensorStore(single, std::move(files), block_size);
  }
  for (const auto& [shard, names] : read_index(index)) {
    files.push_back(SafetensorsFile::open(dir / shard));
    check_shard(files.back(), names, index);
  }
  return TensorStore(index, std::move(files), block_size);
}

TensorStore::TensorStore(std::filesystem::path path, std::vector<SafetensorsFile> files,
                         std::optional<BlockSize> block_size)
    : path_(std::move(path)), files_(std::move(files)), block_size_(block_size) {
  for (const SafetensorsFile& file : files_) {
    for (const TensorView& tensor : file.tensors())
      by_name_.push_back(&tensor);
  }
  std::ranges::sort(by_name_, {}, &TensorView::name);
}

void TensorStore::release(std::span<const std::byte> values) const {
  for (const SafetensorsFile& file : files_) {
    if (release_pages(file.bytes(), values)) return;
  }
}

const TensorView* TensorStore::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      by_name_, name, {}, [](const TensorView* tensor) { return std::string_view(tensor->name); });
  return found != by_name_.end() && (*found)->name == name ? *found : nullptr;
}

}  // namespace engine::model
