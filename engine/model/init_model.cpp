#include "model/init_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <system_error>

#include "model/byte_tokenizer.h"
#include "model/config.h"
#include "model/preset.h"
#include "model/random_weights.h"
#include "model/safetensors.h"

namespace engine::model {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw ModelError(path, "cannot be written");
}

void write_weights(const ModelConfig& config, std::uint64_t seed, const fs::path& path) {
  const std::vector<RandomTensor> tensors = random_weights(config, seed);
  std::vector<TensorSource> sources;
  sources.reserve(tensors.size());
  for (const RandomTensor& tensor : tensors) {
    const bool wide = !tensor.floats.empty();
    sources.push_back(
        {tensor.name, wide ? "F32" : "BF16", tensor.shape,
         wide ? std::as_bytes(std::span(tensor.floats)) : std::as_bytes(std::span(tensor.values))});
  }
  write_safetensors(path, sources);
}

void write_folder(const Preset& preset, std::uint64_t seed, const fs::path& dir) {
  const fs::path config_file = dir / "config.json";
  const std::string config = config_json(preset, byte_tokenizer_size(), byte_tokenizer_end());
  write_text(config_file, config);
  write_text(dir / "tokenizer.json", byte_tokenizer_json());
  write_text(dir / "chat_format.json", byte_chat_format_json());
  write_weights(ModelConfig::parse(config, config_file), seed, dir / "model.safetensors");
}

const Preset& require_preset(std::string_view name, const fs::path& dir) {
  if (const Preset* preset = find_preset(name)) return *preset;
  throw ModelError(
      dir, fmt::format("no preset \"{}\"; there are {}", name, fmt::join(preset_names(), ", ")));
}

// `dir` as an absolute path without a trailing slash, so that it has a parent and a name.
fs::path normal(const fs::path& dir) {
  fs::path path = fs::absolute(dir).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

void check_target(const fs::path& dir, bool force) {
  const fs::file_status status = fs::symlink_status(dir);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) throw ModelError(dir, "exists and is not a folder");
  if (!force && !fs::is_empty(dir)) {
    throw ModelError(dir, "not empty; it is replaced only with force");
  }
}

// A folder beside the target, removed on destruction unless it was moved away.
class Scratch {
 public:
  explicit Scratch(const fs::path& target, std::string_view purpose)
      : path_(target.parent_path() /
              fmt::format(".{}.{}.{}", target.filename().string(), purpose, getpid())) {
    fs::remove_all(path_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Puts `made` in the place of `dir`; an old folder is set aside first, and put back on failure.
void replace(const fs::path& made, const fs::path& dir) {
  if (!fs::exists(dir)) {
    fs::rename(made, dir);
    return;
  }
  const Scratch old(dir, "old");
  fs::rename(dir, old.path());
  std::error_code error;
  fs::rename(made, dir, error);
  if (!error) return;
  fs::rename(old.path(), dir);
  throw ModelError(dir, error.message());
}

}  // namespace

std::span<const std::string_view> preset_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const Preset& preset : presets())
      list.push_back(preset.name);
    return list;
  }();
  return names;
}

void init_model(std::string_view preset, const fs::path& dir, const InitOptions& options) {
  const Preset& shape = require_preset(preset, dir);
  try {
    const fs::path target = normal(dir);
    check_target(target, options.force);
    fs::create_directories(target.parent_path());
    const Scratch made(target, "new");
    fs::create_directory(made.path());
    write_folder(shape, options.seed, made.path());
    replace(made.path(), target);
  } catch (const fs::filesystem_error& error) {
    throw ModelError(dir, error.code().message());
  }
}

}  // namespace engine::model
