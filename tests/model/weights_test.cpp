#include "model/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

#include "case_name.h"
#include "model/init_model.h"
#include "model/model.h"
#include "model/tensor_store.h"
#include "test_files.h"

namespace engine::model {
namespace {

using testing::HasSubstr;

// A preset's folder, whose tensors a test changes before they are bound.
class WeightsTest : public testing::TestWithParam<std::string_view> {
 protected:
  void init(std::string_view preset) {
    init_model(preset, dir_ / "model", {.seed = 3});
    config_ = ModelConfig::load(dir_ / "model");
  }

  using Change = std::function<void(std::vector<TensorSource>&)>;

  // Rewrites the weights with a change and binds them.
  Weights bound_after(const Change& change) {
    const TensorStore original = TensorStore::open(dir_ / "model");
    std::vector<TensorSource> tensors;
    for (const TensorView& tensor : original.files()[0].tensors()) {
      tensors.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.data});
    }
    change(tensors);
    write_safetensors(changed_ / "model.safetensors", tensors);
    store_ = TensorStore::open(changed_.path());
    return Weights::bind(config_, *store_);
  }

  // The error's text.
  std::string error_after(const Change& change) {
    return error_of([&] { bound_after(change); });
  }

  static TensorSource& named(std::vector<TensorSource>& tensors, std::string_view name) {
    return *std::ranges::find(tensors, name, &TensorSource::name);
  }

  TempFolder dir_, changed_;
  ModelConfig config_;
  std::optional<TensorStore> store_;  // what bound_after's weights point into
};

TEST_P(WeightsTest, BindsAPreset) {
  init(GetParam());
  const TensorStore store = TensorStore::open(dir_ / "model");
  const Weights weights = Weights::bind(config_, store);
  ASSERT_EQ(weights.layers.size(), config_.layers);
  EXPECT_EQ(weights.mtp.has_value(), config_.mtp);
  EXPECT_EQ(weights.lm_head == weights.embedding, config_.tied_embeddings);
  EXPECT_EQ(weights.layers[0].q_bias != nullptr, config_.qkv_bias);
  EXPECT_EQ(weights.layers[0].k_norm != nullptr, config_.qk_norm != QkNorm::kNone);
  const TensorView* down = store.find("model.layers.1.mlp.down_proj.weight");
  if (down == nullptr) down = store.find("model.layers.1.mlp.c_proj.weight");
  if (down == nullptr) down = store.find("model.layers.1.mlp.shared_experts.down_proj.weight");
  ASSERT_NE(down, nullptr);
  EXPECT_EQ(static_cast<const void*>(weights.layers[1].down), down->data.data());
  EXPECT_EQ(weights.id.size(), 16U);
}

// No tensor may be forgotten: each is needed, and needed with its dtype and shape.
TEST_P(WeightsTest, EveryTensorIsChecked) {
  init(GetParam());
  const TensorStore original = TensorStore::open(dir_ / "model");
  for (const TensorView& tensor : original.files()[0].tensors()) {
    // Of the experts the first two speak for all.
    const std::size_t expert = tensor.name.find(".experts.");
    if (expert != std::string::npos && tensor.name[expert + 9] > '1') continue;
    EXPECT_THAT(error_after([&](auto& all) {
                  std::erase_if(all, [&](const auto& t) { return t.name == tensor.name; });
                }),
                HasSubstr("no tensor " + tensor.name + "; expected BF16 ["));
    const char* const integers = tensor.dtype == "F32" ? "I32" : "I16";
    EXPECT_THAT(error_after([&](auto& all) { named(all, tensor.name).dtype = integers; }),
                HasSubstr(tensor.name + ": expected BF16 ["));
    EXPECT_THAT(error_after([&](auto& all) { named(all, tensor.name).shape.push_back(1); }),
                HasSubstr(tensor.name + ": expected BF16 ["));
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, WeightsTest,
                         testing::Values("micro", "plain", "phi3", "olmo2", "gemma3", "glm4",
                                         "starcoder2", "glm4moe-mini", "glm5-mini"),
                         [](const auto& test) { return case_word(test.param); });

// A router's bias decides near ties, so it is not rounded to bf16.
TEST_F(WeightsTest, ARoutersBiasStaysFloat32) {
  init("glm4moe-mini");
  const TensorStore store = TensorStore::open(dir_ / "model");
  const std::string name = "model.layers.1.mlp.gate.e_score_correction_bias";
  std::vector<float> bias(8);
  for (std::size_t i = 0; i < bias.size(); ++i)
    bias[i] = 1.0F + static_cast<float>(i) * 0x1p-20F;
  const Weights weights =
      bound_after([&](auto& all) { named(all, name).data = std::as_bytes(std::span(bias)); });
  EXPECT_TRUE(std::ranges::equal(bias, std::span(weights.layers[1].router_bias, bias.size())));
}

// All experts of a layer in two tensors, as transformers 5 may save them.
TEST_F(WeightsTest, TakesTheExpertsOfALayerInTwoTensors) {
  init("glm4moe-mini");
  const TensorStore store = TensorStore::open(dir_ / "model");
  const Weights apart = Weights::bind(config_, store);
  const std::size_t half = config_.experts.intermediate * config_.hidden;
  std::vector<std::vector<bf16>> kept;
  const Weights whole = bound_after([&](std::vector<TensorSource>& all) {
    std::erase_if(all, [](const auto& t) { return t.name.find(".experts.") != std::string::npos; });
    const auto add = [&](const std::string& name, std::vector<std::size_t> shape,
                         std::vector<bf16> values) {
      kept.push_back(std::move(values));
      all.push_back({name, "BF16", std::move(shape), std::as_bytes(std::span(kept.back()))});
    };
    for (std::size_t i = 1; i <= config_.layers; ++i) {
      const LayerWeights& layer = i < config_.layers ? apart.layers[i] : apart.mtp->layer;
      std::vector<bf16> gate_up, down;
      for (const ExpertWeights& expert : layer.experts) {
        gate_up.insert(gate_up.end(), expert.gate, expert.gate + half);
        gate_up.insert(gate_up.end(), expert.up, expert.up + half);
        down.insert(down.end(), expert.down, expert.down + half);
      }
      const std::string prefix = "model.layers." + std::to_string(i) + ".mlp.experts.";
      add(prefix + "gate_up_proj", {8, 2 * config_.experts.intermediate, config_.hidden}, gate_up);
      add(prefix + "down_proj", {8, config_.hidden, config_.experts.intermediate}, down);
    }
  });
  const auto same = [&](const bf16* a, const bf16* b) {
    return std::memcmp(a, b, half * sizeof(bf16)) == 0;
  };
  for (std::size_t e = 0; e < 8; ++e) {
    const ExpertWeights &a = apart.layers[2].experts[e], &b = whole.layers[2].experts[e];
    EXPECT_TRUE(same(a.gate, b.gate) && same(a.up, b.up) && same(a.down, b.down)) << e;
  }
}

// Published folders repeat the embedding and the head in the drafter's layer.
TEST_F(WeightsTest, TheDraftersTablesAreTheModelsUnlessTheyDiffer) {
  init("glm4moe-mini");
  const TensorStore original = TensorStore::open(dir_ / "model");
  const TensorView& table = *original.find("model.embed_tokens.weight");
  std::vector<std::byte> other(table.data.begin(), table.data.end());
  const auto bound_with = [&](std::span<const std::byte> head) {
    return bound_after([&](auto& all) {
      all.push_back({"model.layers.5.embed_tokens.weight", "BF16", table.shape, table.data});
      all.push_back({"model.layers.5.shared_head.head.weight", "BF16", table.shape, head});
    });
  };
  const Weights same = bound_with(other);
  EXPECT_EQ(same.mtp->embedding, same.embedding);
  EXPECT_EQ(same.mtp->lm_head, same.lm_head);
  other[7] ^= std::byte{1};
  const Weights differs = bound_with(other);
  EXPECT_EQ(differs.mtp->embedding, differs.embedding);
  ASSERT_NE(differs.mtp->lm_head, differs.lm_head);
  EXPECT_EQ(std::memcmp(differs.mtp->lm_head, other.data(), other.size()), 0);
}

// Transformers leaves the multi-token-prediction layer out where it saves a model of these types.
TEST_F(WeightsTest, AFamilysDrafterIsThereOnlyWithItsTensors) {
  init("glm4moe-mini");
  EXPECT_TRUE(Weights::has_drafter(config_, TensorStore::open(dir_ / "model")));
  const TensorStore original = TensorStore::open(dir_ / "model");
  std::vector<TensorSource> tensors;
  for (const TensorView& tensor : original.files()[0].tensors()) {
    if (!tensor.name.starts_with("model.layers.5."))
      tensors.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.data});
  }
  const TempFolder changed;
  for (const auto* file : {"config.json", "tokenizer.json", "chat_format.json"})
    std::filesystem::copy_file(dir_ / "model" / file, changed / file);
  write_safetensors(changed / "model.safetensors", tensors);
  EXPECT_FALSE(Model::load(changed.path()).config().mtp);
}

// Every tensor as F32, which holds a bf16 exactly: each value must come back.
TEST_F(WeightsTest, TakesOtherDtypes) {
  init("micro");
  const TensorStore original = TensorStore::open(dir_ / "model");
  std::vector<TensorSource> tensors;
  std::vector<std::vector<float>> values;
  for (const TensorView& tensor : original.files()[0].tensors())
    values.push_back(to_floats(tensor));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const TensorView& tensor = original.files()[0].tensors()[i];
    tensors.push_back({tensor.name, "F32", tensor.shape, std::as_bytes(std::span(values[i]))});
  }
  const TempFolder wide;
  write_safetensors(wide / "model.safetensors", tensors);
  const TensorStore store = TensorStore::open(wide.path());
  const Weights weights = Weights::bind(config_, store),
                expected = Weights::bind(config_, original);
  const auto same = [](const bf16* a, const bf16* b, std::size_t count) {
    return std::equal(a, a + count, b, [](bf16 x, bf16 y) { return x.bits == y.bits; });
  };
  const std::size_t hidden = config_.hidden;
  EXPECT_TRUE(same(weights.embedding, expected.embedding, config_.vocabulary * hidden));
  for (std::size_t i = 0; i < config_.layers; ++i) {
    const std::size_t mlp = config_.intermediate * hidden;
    EXPECT_TRUE(same(weights.layers[i].up, expected.layers[i].up, mlp));
    EXPECT_TRUE(same(weights.layers[i].down, expected.layers[i].down, mlp));
  }
  EXPECT_EQ(weights.lm_head, weights.embedding);
}

TEST_F(WeightsTest, RefusesIntegersByName) {
  init("micro");
  const std::string stem = "model.layers.0.mlp.up_proj";
  for (const auto& [ending, form] :
       {std::pair{".qweight", "GPTQ or AWQ"}, std::pair{".weight_packed", "compressed-tensors"},
        std::pair{".weight.absmax", "bitsandbytes"}}) {
    const auto change = [&, name = stem + ending](auto& all) {
      named(all, stem + ".weight").name = name;
    };
    EXPECT_THAT(error_after(change), HasSubstr(stem + ".weight is stored as " + form));
  }
}

TEST_F(WeightsTest, PrintsWhatWasExpectedAndFound) {
  init("micro");
  EXPECT_THAT(error_after([](auto& all) {
                named(all, "model.layers.0.mlp.up_proj.weight").shape = {64, 512};
              }),
              HasSubstr("model.safetensors: model.layers.0.mlp.up_proj.weight: "
                        "expected BF16 [512, 64], found BF16 [64, 512]"));
}

TEST_F(WeightsTest, ListsTensorsThatAreNotCalledFor) {
  init("micro");
  EXPECT_THAT(error_after([](auto& all) {
                all.push_back(all[0]);
                all.back().name = "model.layers.0.self_attn.o_proj.bias";
              }),
              HasSubstr("does not call for: model.layers.0.self_attn.o_proj.bias"));
  EXPECT_THAT(error_after([](auto& all) {
                for (int i = 0; i < 12; ++i) {
                  all.push_back(all[0]);
                  all.back().name = "extra." + std::to_string(i);
                }
              }),
              HasSubstr("and 2 more"));
}

TEST_F(WeightsTest, IgnoresHarmlessBuffers) {
  init("micro");
  EXPECT_EQ(error_after([](auto& all) {
              all.push_back(all[0]);
              all.back().name = "model.layers.0.self_attn.rotary_emb.inv_freq";
            }),
            "no error");
}

// Names as published models and both versions of transformers write them.
TEST_F(WeightsTest, OtherSensesOfALargerModelAreLeftOut) {
  init("micro");
  const auto error_with = [&](std::string_view name) {
    return error_after([&](auto& all) {
      all.push_back(all[0]);
      all.back().name = name;
    });
  };
  const std::array beside{"vision_tower.vision_model.embeddings.patch_embedding.weight",
                          "model.vision_tower.transformer.layers.0.attention.q_proj.weight",
                          "multi_modal_projector.mm_input_projection_weight",
                          "model.multi_modal_projector.linear_1.weight",
                          "visual.blocks.0.attn.qkv.weight",
                          "model.visual.patch_embed.proj.weight",
                          "vision_model.encoder.layers.0.mlp.fc1.weight",
                          "model.vision_embed_tokens.img_projection.0.weight",
                          "vision_language_adapter.w_in.weight",
                          "model.image_newline",
                          "mm_projector.0.weight",
                          "model.connector.modality_projection.proj.weight",
                          "audio_tower.conv1.weight",
                          "model.embed_audio.embedding_projection.weight",
                          "patch_merger.merging_layer.weight"};
  for (const auto* name : beside) {
    config_.nested = true;
    EXPECT_EQ(error_with(name), "no error") << name;
    config_.nested = false;
    EXPECT_THAT(error_with(name), HasSubstr(name));
  }
  config_.nested = true;
  for (const auto* name :
       {"language_model.model.layers.0.mlp.router.weight", "model.language_model.visual.weight",
        "model.layers.0.vision_gate.weight", "model.norm.image", "model.embed_tokens.audio",
        "lm_head.image_scale", "model.text_projection.weight", "supervision.weight",
        "model.connected.weight"}) {
    EXPECT_THAT(error_with(name), HasSubstr(name));
  }
}

TEST_F(WeightsTest, TiedModelsMayStoreTheHeadAsWell) {
  init("micro");
  std::string other;
  const auto add_head = [&](auto& all) {
    all.push_back(named(all, "model.embed_tokens.weight"));
    all.back().name = "lm_head.weight";
    if (other.empty()) return;
    other.assign(all.back().data.size(), 'x');
    all.back().data = std::as_bytes(std::span(other));
  };
  EXPECT_EQ(error_after(add_head), "no error");
  other = "different";
  EXPECT_THAT(error_after(add_head), HasSubstr("lm_head.weight differs from"));
}

TEST_F(WeightsTest, IdTellsModelsApart) {
  const auto id = [&](std::string_view preset, std::uint64_t seed) {
    const std::filesystem::path dir = dir_ / "id";
    init_model(preset, dir, {.seed = seed, .force = true});
    return Weights::bind(ModelConfig::load(dir), TensorStore::open(dir)).id;
  };
  EXPECT_EQ(id("micro", 1), id("micro", 1));
  EXPECT_NE(id("micro", 1), id("micro", 2));
  EXPECT_NE(id("micro", 1), id("plain", 1));
}

}  // namespace
}  // namespace engine::model
