// Experts whose matrices are FP8, each by its own scales.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "model/init_model.h"
#include "model/model.h"
#include "model/tensor_store.h"
#include "test_files.h"

namespace engine::model {
namespace {

constexpr std::array<std::uint8_t, 4> kCodes{0x38, 0x40, 0xb8, 0x30};
constexpr std::array<float, 4> kValues{1, 2, -1, 0.5F};  // of these E4M3

// A matrix [R, C] in FP8; one scale for each block of `rows` times `columns`.
struct Scaled {
  std::size_t rows, columns, across;
  std::vector<std::size_t> draws;  // of kCodes
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;

  Scaled(const std::vector<std::size_t>& shape, std::size_t rows_of, std::size_t columns_of,
         std::size_t seed)
      : rows(rows_of),
        columns(std::min(columns_of, shape[1])),
        across((shape[1] + columns - 1) / columns) {
    for (std::size_t i = 0; i < shape[0] * shape[1]; ++i) {
      draws.push_back((i + i / shape[1] + seed) % kCodes.size());
      codes.push_back(kCodes[draws.back()]);
    }
    for (std::size_t i = 0; i < (shape[0] + rows - 1) / rows * across; ++i)
      scales.push_back(static_cast<float>(1 + (i + 7 * seed) % 251) / 16);
  }

  std::size_t differing(const bf16* found, std::size_t width) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const float scale = scales[i / width / rows * across + i % width / columns];
      count += found[i].bits != numerics::from_float(kValues[draws[i]] * scale).bits ? 1 : 0;
    }
    return count;
  }
};

class Fp8Experts : public testing::Test {
 protected:
  Fp8Experts() {
    init_model("glm4moe-mini", original_ / "model", {.seed = 3});
    config_ = ModelConfig::load(original_ / "model");
  }

  // The experts of the preset with a scale for each block; those of the last layer are the
  // drafter's.
  void write(const nlohmann::json& quantization, const std::string& ending, std::size_t rows,
             std::size_t columns) {
    write_bytes(folder_ / "config.json",
                nlohmann::json{{"quantization_config", quantization}}.dump());
    const TensorStore store = TensorStore::open(original_ / "model");
    std::vector<TensorSource> tensors, scales;
    for (const TensorView& tensor : store.files()[0].tensors()) {
      tensors.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.data});
      if (tensor.name.find(".mlp.experts.") == std::string::npos) continue;
      const std::size_t seed = kept_.size();
      const Scaled& own =
          kept_.try_emplace(tensor.name, tensor.shape, rows, columns, seed).first->second;
      tensors.back().dtype = "F8_E4M3";
      tensors.back().data = std::as_bytes(std::span(own.codes));
      scales.push_back({tensor.name + ending,
                        "F32",
                        {own.scales.size() / own.across, own.across},
                        std::as_bytes(std::span(own.scales))});
    }
    scales.insert(scales.end(), tensors.begin(), tensors.end());  // scales first: they are aligned
    write_safetensors(folder_ / "model.safetensors", scales);
  }

  void expect_all() {
    const TensorStore store = TensorStore::open(folder_.path());
    const Weights weights = Weights::bind(config_, store);
    const std::size_t hidden = config_.hidden, inner = config_.experts.intermediate;
    std::size_t compared = 0;
    for (std::size_t i = 1; i <= config_.layers; ++i) {
      const LayerWeights& layer = i < config_.layers ? weights.layers[i] : weights.mtp->layer;
      for (std::size_t e = 0; e < layer.experts.size(); ++e) {
        const std::string name =
            "model.layers." + std::to_string(i) + ".mlp.experts." + std::to_string(e);
        const ExpertWeights& expert = layer.experts[e];
        EXPECT_EQ(kept_.at(name + ".gate_proj.weight").differing(expert.gate, hidden), 0U) << name;
        EXPECT_EQ(kept_.at(name + ".up_proj.weight").differing(expert.up, hidden), 0U) << name;
        EXPECT_EQ(kept_.at(name + ".down_proj.weight").differing(expert.down, inner), 0U) << name;
        compared += 3;
      }
    }
    EXPECT_EQ(compared, kept_.size());
  }

  TempFolder original_, folder_;
  ModelConfig config_;
  std::map<std::string, Scaled> kept_;
};

// As DeepSeek-V3 is published; the blocks are cut off at the matrices' edges.
TEST_F(Fp8Experts, ByBlocks) {
  write({{"quant_method", "fp8"}, {"weight_block_size", {24, 40}}}, "_scale_inv", 24, 40);
  expect_all();
}

// As GLM-4.5 is.
TEST_F(Fp8Experts, ByRows) {
  write({{"quant_method", "compressed-tensors"}}, "_scale", 1, 1U << 16U);
  expect_all();
}

}  // namespace
}  // namespace engine::model
