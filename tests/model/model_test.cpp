#include "model/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>

#include "case_name.h"
#include "model/init_model.h"
#include "test_files.h"

namespace engine::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : bytes)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

class EveryPreset : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryPreset, LoadsAndMoves) {
  const TempFolder dir;
  init_model(GetParam(), dir / "model", {.seed = 1});
  Model first = Model::load(dir / "model");
  const bf16* const embedding = first.weights().embedding;
  const Model model = std::move(first);
  EXPECT_EQ(model.weights().embedding, embedding);
  EXPECT_EQ(model.tokenizer().size(), model.config().vocabulary);
  ASSERT_NE(model.chat_template(), nullptr);
  ASSERT_EQ(model.config().stop_tokens.size(), 1U);
  EXPECT_EQ(model.tokenizer().decode(model.config().stop_tokens[0]), "<|end|>");
}

double deviation(const bf16* values, std::size_t count) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = numerics::to_float(values[i]);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / static_cast<double>(count);
  return std::sqrt(squares / static_cast<double>(count) - mean * mean);
}

TEST_P(EveryPreset, WeightsHaveTheScaleThatTheyShould) {
  const TempFolder dir;
  init_model(GetParam(), dir / "model", {.seed = 1});
  const Model model = Model::load(dir / "model");
  const ModelConfig& c = model.config();
  const Weights& w = model.weights();
  const double width = std::sqrt(static_cast<double>(c.hidden));
  EXPECT_NEAR(deviation(w.embedding, c.vocabulary * c.hidden) * width, 2.0, 0.05);
  EXPECT_NEAR(deviation(w.lm_head, c.vocabulary * c.hidden) * width, 2.0, 0.05);
  for (std::size_t i = 0; i < c.layers; ++i) {
    const LayerWeights& layer = w.layers[i];
    const std::size_t inner = c.mlp_width(c.layer_kinds[i].experts);
    if (inner > 0) {
      EXPECT_NEAR(deviation(layer.up, inner * c.hidden) * width, 1.0, 0.05);
    }
    const bool before = layer.attention_norm.weight != nullptr;
    const bf16* const norm = (before ? layer.attention_norm : layer.attention_norm_after).weight;
    EXPECT_LT(deviation(norm, c.hidden), 0.1);
    EXPECT_GT(deviation(norm, c.hidden), 0.02);
  }
  EXPECT_NE(w.layers[0].o[0].bits, w.layers[1].o[0].bits);
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryPreset, testing::ValuesIn(preset_names()),
                         [](const auto& test) { return case_word(test.param); });

// The files of a preset and seed never change: digests elsewhere are pinned to them.
TEST(InitModel, FilesAreKnown) {
  const TempFolder dir;
  init_model("micro", dir / "model", {.seed = 1});
  const auto hash = [&](const char* name) { return fnv1a(read_bytes(dir / "model" / name)); };
  EXPECT_EQ(hash("config.json"), 0x2759e1c74873f217U);
  EXPECT_EQ(hash("tokenizer.json"), 0xa2821b0c81060ebfU);
  EXPECT_EQ(hash("chat_format.json"), 0xe83ec32a132eb3b3U);
  EXPECT_EQ(hash("model.safetensors"), 0x1023857c0624d2ceU);
}

TEST(InitModel, OtherPresetsAreKnown) {
  const TempFolder dir;
  init_model("mini", dir / "mini", {.seed = 1});
  init_model("plain", dir / "plain", {.seed = 1});
  EXPECT_EQ(fnv1a(read_bytes(dir / "mini" / "model.safetensors")), 0xee915bf2aa8a224bU);
  EXPECT_EQ(fnv1a(read_bytes(dir / "plain" / "model.safetensors")), 0xbfb232fb05ab336aU);
}

TEST(InitModel, ShapesOfTheTable) {
  const TempFolder dir;
  init_model("micro", dir / "micro");
  const ModelConfig micro = ModelConfig::load(dir / "micro");
  EXPECT_EQ(micro.rotaries[0].size, 8U);
  EXPECT_EQ(micro.mtp_window, 32U);
  EXPECT_EQ(micro.qk_norm, QkNorm::kHead);
  EXPECT_TRUE(micro.tied_embeddings && micro.mtp && !micro.qkv_bias);
  init_model("plain", dir / "plain");
  const ModelConfig plain = ModelConfig::load(dir / "plain");
  EXPECT_EQ(plain.rotaries[0].size, plain.head_size);
  EXPECT_EQ(plain.kv_heads, plain.query_heads);
  EXPECT_EQ(plain.qk_norm, QkNorm::kNone);
  EXPECT_TRUE(!plain.tied_embeddings && !plain.mtp && plain.qkv_bias);
}

TEST(InitModel, TheSeedDecides) {
  const TempFolder dir;
  const auto weights = [&](std::uint64_t seed) {
    init_model("micro", dir / "model", {.seed = seed, .force = true});
    return read_bytes(dir / "model" / "model.safetensors");
  };
  const std::string first = weights(1);
  EXPECT_NE(weights(2), first);
  EXPECT_NE(weights(1ULL << 32U), weights(0));
  EXPECT_EQ(weights(1), first);
}

TEST(InitModel, NeverOverwritesUnasked) {
  const TempFolder dir;
  write_bytes(dir / "precious", "data");
  EXPECT_THAT(error_of([&] { init_model("micro", dir.path()); }), HasSubstr("not empty"));
  EXPECT_EQ(read_bytes(dir / "precious"), "data");
  EXPECT_THAT(error_of([&] { init_model("micro", dir / "precious", {.force = true}); }),
              HasSubstr("exists and is not a folder"));
  EXPECT_EQ(read_bytes(dir / "precious"), "data");
}

TEST(InitModel, ForceReplacesTheWholeFolder) {
  const TempFolder dir;
  std::filesystem::create_directory(dir / "model");
  write_bytes(dir / "model" / "old", "data");
  init_model("micro", dir / "model", {.force = true});
  EXPECT_FALSE(std::filesystem::exists(dir / "model" / "old"));
  EXPECT_NO_THROW(Model::load(dir / "model"));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, ElementsAre("model"));  // nothing set aside is left
}

TEST(InitModel, TakesEmptyAndMissingFolders) {
  const TempFolder dir;
  std::filesystem::create_directory(dir / "empty");
  init_model("micro", dir / "empty/");
  init_model("micro", dir / "a/b/c");
  EXPECT_NO_THROW(Model::load(dir / "empty"));
  EXPECT_NO_THROW(Model::load(dir / "a/b/c"));
}

TEST(InitModel, NamesThePresets) {
  EXPECT_THAT(error_of([] { init_model("huge", "x"); }),
              HasSubstr("x: no preset \"huge\"; there are micro, mini, plain"));
}

TEST(InitModel, ReportsTheDisk) {
  const TempFolder dir;
  write_bytes(dir / "file", "");
  EXPECT_THAT(error_of([&] { init_model("micro", dir / "file/model"); }),
              HasSubstr("file/model: Not a directory"));
}

TEST(Model, NamesWhatIsMissing) {
  const TempFolder dir;
  EXPECT_THAT(error_of([&] { Model::load(dir / "none"); }), HasSubstr("none: no such folder"));
  for (const char* name : {"config.json", "tokenizer.json", "model.safetensors"}) {
    init_model("micro", dir / "model", {.force = true});
    std::filesystem::remove(dir / "model" / name);
    EXPECT_THAT(error_of([&] { Model::load(dir / "model"); }),
                testing::AllOf(HasSubstr(name), testing::ContainsRegex("[Nn]o such file")));
  }
}

TEST(Model, TheChatTemplateIsOptional) {
  const TempFolder dir;
  init_model("micro", dir / "model");
  std::filesystem::remove(dir / "model/chat_format.json");
  EXPECT_EQ(Model::load(dir / "model").chat_template(), nullptr);
}

TEST(Model, TheTokenizerMustFitTheVocabulary) {
  const TempFolder dir;
  init_model("micro", dir / "model");
  nlohmann::json tokenizer = nlohmann::json::parse(read_bytes(dir / "model/tokenizer.json"));
  tokenizer["added_tokens"].push_back({{"id", 320}, {"content", "<one more>"}});
  write_bytes(dir / "model/tokenizer.json", tokenizer.dump());
  EXPECT_THAT(error_of([&] { Model::load(dir / "model"); }),
              HasSubstr("tokenizer.json: ids up to 320, but the model's vocabulary has 320"));
}

}  // namespace
}  // namespace engine::model
