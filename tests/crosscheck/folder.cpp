#include "crosscheck/folder.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "model/byte_tokenizer.h"
#include "model/safetensors.h"
#include "numerics/bf16.h"
#include "numerics/philox.h"

namespace engine::crosscheck {
namespace {

using numerics::bf16;

// One entry of "tensors": name, shape, centre, deviation.
struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;
  double centre, deviation;

  std::size_t size() const {
    std::size_t count = 1;
    for (const std::size_t length : shape)
      count *= length;
    return count;
  }
};

// The same draws as weights.py.
std::vector<bf16> draw(const Tensor& tensor, std::uint32_t index, std::uint32_t seed) {
  constexpr double kRootOfThree = 1.7320508075688772;
  std::vector<bf16> values(tensor.size());
  numerics::PhiloxBlock words{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 4 == 0)
      words = numerics::philox4x32_10({static_cast<std::uint32_t>(i / 4), 0, index, 0}, {seed, 0});
    const double unit = static_cast<double>(static_cast<std::int32_t>(words[i % 4])) * 0x1p-31;
    const double value = unit * (kRootOfThree * tensor.deviation) + tensor.centre;
    values[i] = numerics::from_float(static_cast<float>(value));
  }
  return values;
}

}  // namespace

Fixture Fixture::load(const std::filesystem::path& json) {
  return {json.stem().string(), nlohmann::ordered_json::parse(std::ifstream(json))};
}

std::vector<std::filesystem::path> fixture_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FIXTURE_DIR))
    files.push_back(entry.path());
  if (files.empty()) throw std::runtime_error("no fixtures in " FIXTURE_DIR);
  std::ranges::sort(files);
  return files;
}

void write_folder(const std::filesystem::path& folder, const Fixture& fixture,
                  const nlohmann::ordered_json& config, const std::string& of, double centre) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json") << config.dump(2);
  std::ofstream(folder / "tokenizer.json") << model::byte_tokenizer_json();
  std::vector<Tensor> tensors;
  for (const auto& entry : fixture.file["tensors"])
    tensors.push_back({entry[0], entry[1], entry[2], entry[3]});
  std::vector<std::vector<bf16>> values;
  std::vector<model::TensorSource> sources;
  for (Tensor& tensor : tensors) {
    if (tensor.name.ends_with(of)) tensor.centre += centre;
    const auto index = static_cast<std::uint32_t>(values.size());
    values.push_back(draw(tensor, index, fixture.file["seed"]));
    sources.push_back({tensor.name, "BF16", tensor.shape, std::as_bytes(std::span(values.back()))});
  }
  model::write_safetensors(folder / "model.safetensors", sources);
}

}  // namespace engine::crosscheck
