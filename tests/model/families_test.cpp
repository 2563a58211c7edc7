// The configurations of published models, as transformers 4 and 5 write them, and what each must be
// read as.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/config.h"
#include "numerics/attention.h"
#include "published_configs.h"
#include "test_files.h"

namespace engine::model {
namespace {

using nlohmann::json;
using numerics::Activation;
using numerics::NormKind;
using numerics::RotaryScaling;
using testing::HasSubstr;

ModelConfig parse(std::string_view text) {
  return ModelConfig::parse(text, "config.json");
}

ModelConfig parse(const json& config) {
  return parse(std::string_view(config.dump()));
}

std::string error(const json& config) {
  return error_of([&] { parse(config); });
}

json published(std::string_view name) {
  for (const Published& one : kPublished) {
    if (one.name == name) return json::parse(one.config);
  }
  throw std::logic_error("no such configuration");
}

ModelConfig read(std::string_view name) {
  return parse(published(name));
}

TEST(Families, EveryPublishedConfigurationIsReadOrRefusedByName) {
  std::size_t taken = 0;
  for (const Published& one : kPublished) {
    const std::string message = error_of([&] { parse(one.config); });
    if (one.refused.empty()) {
      EXPECT_EQ(message, "no error") << one.name;
      ++taken;
    } else {
      EXPECT_THAT(message, HasSubstr(one.refused)) << one.name;
    }
  }
  RecordProperty("taken", static_cast<int>(taken));
  EXPECT_EQ(taken, std::size(kPublished) - 11);
}

std::vector<std::size_t> layers_with_experts(const ModelConfig& config) {
  std::vector<std::size_t> layers;
  for (std::size_t i = 0; i < config.layers; ++i) {
    if (config.layer_kinds[i].experts) layers.push_back(i);
  }
  return layers;
}

TEST(Families, ExpertsOfGlm45) {
  const ModelConfig air = read("GLM-4.5-Air");
  const numerics::RouterRule& router = air.experts.router;
  EXPECT_EQ(router.score, numerics::RouterScore::kSigmoid);
  EXPECT_EQ(router.experts, 128U);
  EXPECT_EQ(router.chosen, 8U);
  EXPECT_EQ(router.groups, 1U);
  EXPECT_TRUE(router.normalised);
  EXPECT_TRUE(air.experts.bias);
  EXPECT_EQ(air.experts.intermediate, 1408U);
  EXPECT_EQ(air.experts.shared_intermediate, 1408U);
  EXPECT_EQ(layers_with_experts(air).size(), 45U);
  EXPECT_FALSE(air.layer_kinds[0].experts);
  EXPECT_TRUE(air.qkv_bias);
  EXPECT_EQ(air.qk_norm, QkNorm::kNone);
  EXPECT_EQ(air.rotaries[0].size, 64U);
  EXPECT_FALSE(air.rotaries[0].interleaved);
  EXPECT_TRUE(air.mtp);
  const ModelConfig whole = read("GLM-4.6");
  EXPECT_EQ(whole.experts.router.scale, 2.5F);
  EXPECT_EQ(whole.qk_norm, QkNorm::kHead);
  EXPECT_EQ(layers_with_experts(whole).front(), 3U);
}

TEST(Families, ExpertsOfQwen3AndMixtral) {
  const ModelConfig qwen = read("Qwen3-30B-A3B");
  EXPECT_EQ(qwen.experts.router.score, numerics::RouterScore::kSoftmax);
  EXPECT_TRUE(qwen.experts.router.normalised);
  EXPECT_EQ(qwen.experts.intermediate, 768U);
  EXPECT_EQ(qwen.experts.shared_intermediate, 0U);
  EXPECT_EQ(layers_with_experts(qwen).size(), 48U);
  json some = published("Qwen3-30B-A3B");
  some.erase("norm_topk_prob");
  some["num_hidden_layers"] = 6;
  some["decoder_sparse_step"] = 2;
  some["mlp_only_layers"] = {3};
  EXPECT_EQ(layers_with_experts(parse(some)), (std::vector<std::size_t>{1, 5}));
  EXPECT_FALSE(parse(some).experts.router.normalised);
  const ModelConfig mixtral = read("Mixtral-8x7B-v0.1");
  EXPECT_EQ(mixtral.experts.router.experts, 8U);
  EXPECT_EQ(mixtral.experts.router.chosen, 2U);
  EXPECT_TRUE(mixtral.experts.router.normalised);
  EXPECT_EQ(mixtral.experts.intermediate, 14336U);
  EXPECT_EQ(layers_with_experts(mixtral).size(), 32U);
}

TEST(Families, ExpertsThatCannotBeAreRefused) {
  json glm = published("GLM-4.5-Air");
  const auto with = [&](const char* key, const json& value) {
    json changed = glm;
    changed[key] = value;
    return error(changed);
  };
  EXPECT_THAT(with("n_routed_experts", 1024), HasSubstr("n_routed_experts: expected"));
  EXPECT_THAT(with("num_experts_per_tok", 33), HasSubstr("num_experts_per_tok: expected"));
  EXPECT_THAT(with("moe_intermediate_size", 1400), HasSubstr("expected a multiple of 16"));
  EXPECT_THAT(with("n_group", 3), HasSubstr("n_group: expected groups of two or more"));
  EXPECT_THAT(with("topk_group", 2), HasSubstr("topk_group: expected"));
  EXPECT_THAT(with("scoring_func", "softmax"), HasSubstr("scoring_func: expected \"sigmoid\""));
  EXPECT_THAT(with("topk_method", "greedy"), HasSubstr("topk_method: expected \"noaux_tc\""));
  EXPECT_THAT(with("mlp_layer_types", json::array({"dense"})), HasSubstr("one of each of the 46"));
  glm["n_group"] = 64;
  EXPECT_THAT(error(glm), HasSubstr("n_group: expected"));
  glm["n_group"] = 32;
  EXPECT_THAT(error(glm), HasSubstr("topk_group: expected groups that hold 8 experts"));
}

std::vector<std::size_t> layers_with_indexers(const ModelConfig& config) {
  std::vector<std::size_t> layers;
  for (std::size_t i = 0; i < config.layers; ++i) {
    if (config.layer_kinds[i].indexer) layers.push_back(i);
  }
  return layers;
}

TEST(Families, LatentAttentionOfDeepSeek) {
  const ModelConfig v3 = read("DeepSeek-V3");
  EXPECT_EQ(v3.query_heads, 128U);
  EXPECT_EQ(v3.latent.rank, 1536U);
  EXPECT_EQ(v3.latent.size, 512U);
  EXPECT_EQ(v3.latent.rotated, 64U);
  EXPECT_EQ(v3.latent.unrotated, 128U);
  EXPECT_EQ(v3.latent.values, 128U);
  EXPECT_EQ(v3.latent.choice, 0U);
  EXPECT_EQ(v3.attended_width(), 16384U);
  EXPECT_EQ(v3.experts.router.groups, 8U);
  EXPECT_EQ(v3.experts.router.kept_groups, 4U);
  EXPECT_TRUE(v3.rotaries[0].interleaved && v3.mtp);
  EXPECT_EQ(v3.rotaries[0].size, 64U);
  EXPECT_EQ(v3.rotaries[0].attention_factor, 1.0);
  // yarn's mscale, 0.1 ln 40 + 1, squared.
  EXPECT_NEAR(v3.score_scale / numerics::score_scale(192), 1.3688879 * 1.3688879, 1e-6);
  EXPECT_TRUE(layers_with_indexers(v3).empty());
  const ModelConfig v32 = read("DeepSeek-V3.2");
  EXPECT_EQ(v32.latent.index_heads, 64U);
  EXPECT_EQ(v32.latent.index_size, 128U);
  EXPECT_EQ(v32.latent.choice, 2048U);
  EXPECT_FALSE(v32.latent.index_interleaved);
  EXPECT_EQ(layers_with_indexers(v32).size(), 61U);
  json direct = published("DeepSeek-V3");
  direct["q_lora_rank"] = nullptr;
  direct["rope_interleave"] = false;
  direct["rope_scaling"] = nullptr;
  EXPECT_EQ(parse(direct).latent.rank, 0U);
  EXPECT_FALSE(parse(direct).rotaries[0].interleaved);
  EXPECT_EQ(parse(direct).score_scale, numerics::score_scale(192));
}

TEST(Families, LatentAttentionOfGlm) {
  const ModelConfig glm = read("GLM-5");
  EXPECT_EQ(glm.latent.unrotated, 192U);
  EXPECT_EQ(glm.latent.values, 256U);
  EXPECT_EQ(glm.latent.index_heads, 32U);
  EXPECT_TRUE(glm.latent.index_interleaved);
  EXPECT_EQ(glm.rotaries[0].theta, 1e6);
  EXPECT_EQ(layers_with_indexers(glm).size(), 78U);
  EXPECT_EQ(layers_with_experts(glm).front(), 3U);
  EXPECT_EQ(glm.mtp_window, 512U);
  EXPECT_EQ(read("GLM-4.7-Flash").latent.rank, 768U);
  EXPECT_EQ(layers_with_experts(read("GLM-4.7-Flash")).size(), 46U);
}

TEST(Families, LayersThatShareAChoice) {
  json glm = published("GLM-5");
  glm["num_hidden_layers"] = 7;
  const auto with = [&](const char* key, const json& value) {
    json changed = glm;
    changed[key] = value;
    return changed;
  };
  using Layers = std::vector<std::size_t>;
  const json types = {"full", "shared", "full", "shared", "shared", "full", "full"};
  EXPECT_EQ(layers_with_indexers(parse(with("indexer_types", types))), (Layers{0, 2, 5, 6}));
  EXPECT_EQ(layers_with_indexers(parse(with("index_topk_pattern", "FSSFFSF"))),
            (Layers{0, 3, 4, 6}));
  json scheduled = with("index_topk_freq", 4);
  EXPECT_EQ(layers_with_indexers(parse(scheduled)), (Layers{0, 1, 5}));
  scheduled["index_skip_topk_offset"] = 3;
  EXPECT_EQ(layers_with_indexers(parse(scheduled)), (Layers{0, 1, 2, 6}));
  EXPECT_THAT(error(with("index_topk_pattern", "SFFFFFF")), HasSubstr("no other's choice"));
  EXPECT_THAT(error(with("index_topk_pattern", "FFFF")), HasSubstr("one of each of the 7"));
  EXPECT_THAT(error(with("index_topk_pattern", "FFFFXFF")), HasSubstr("letters F and S"));
}

TEST(Families, LatentAttentionThatCannotBeIsRefused) {
  const auto with = [&](const char* key, const json& value) {
    json changed = published("GLM-5");
    changed[key] = value;
    return error(changed);
  };
  EXPECT_THAT(with("attention_bias", true), HasSubstr("attention_bias: expected false"));
  EXPECT_THAT(with("mlp_bias", true), HasSubstr("mlp_bias: expected false"));
  EXPECT_THAT(with("num_key_value_heads", 8), HasSubstr("num_key_value_heads: expected"));
  EXPECT_THAT(with("kv_lora_rank", 1008), HasSubstr("kv_lora_rank: expected an integer"));
  EXPECT_THAT(with("qk_nope_head_dim", 100), HasSubstr("expected a multiple of 16"));
  EXPECT_THAT(with("q_lora_rank", nullptr), HasSubstr("q_lora_rank is null"));
  EXPECT_THAT(with("index_head_dim", 48), HasSubstr("at least qk_rope_head_dim (64)"));
  EXPECT_THAT(with("mtp_sliding_window", 4096), HasSubstr("at most index_topk (2048)"));
  EXPECT_THAT(with("rope_interleave", false), HasSubstr("rope_interleave: expected true"));
  EXPECT_THAT(with("indexer_rope_interleave", false), HasSubstr("expected true"));
  EXPECT_THAT(with("partial_rotary_factor", 0.5), HasSubstr("all of it is rotated"));
  EXPECT_THAT(with("scoring_func", "softmax"), HasSubstr("scoring_func: expected \"sigmoid\""));
  EXPECT_THAT(with("layer_types", json::array({"sliding_attention"})),
              HasSubstr("layer_types[0]: expected"));
}

std::size_t sliding_layers(const ModelConfig& config) {
  return static_cast<std::size_t>(std::ranges::count_if(config.layer_kinds, [](const auto& kind) {
    return kind.window != LayerKind::kWholeContext;
  }));
}

TEST(Families, MistralsWindowIsOnWhereNothingIsSaid) {
  json config = published("Mistral-7B-v0.1");
  EXPECT_EQ(parse(config).layer_kinds[31].window, 4096U);
  config.erase("sliding_window");
  EXPECT_EQ(parse(config).layer_kinds[0].window, 4096U);
  config["sliding_window"] = nullptr;
  EXPECT_EQ(sliding_layers(parse(config)), 0U);
  EXPECT_EQ(sliding_layers(read("Mistral-Nemo-2407")), 0U);
  EXPECT_EQ(read("Mistral-Nemo-2407").head_size, 128U);
}

TEST(Families, QwensWindowIsOffUnlessTurnedOn) {
  json config = published("Qwen2.5-7B-Instruct");
  EXPECT_EQ(sliding_layers(parse(config)), 0U);
  config["use_sliding_window"] = true;
  config["max_window_layers"] = 20;
  EXPECT_EQ(sliding_layers(parse(config)), 8U);
  EXPECT_EQ(parse(config).layer_kinds[19].window, LayerKind::kWholeContext);
  config["layer_types"] = std::vector<std::string>(28, "full_attention");
  EXPECT_EQ(sliding_layers(parse(config)), 0U);
  config["layer_types"][3] = "sliding_attention";
  EXPECT_EQ(parse(config).layer_kinds[3].window, 131072U);
  config["sliding_window"] = nullptr;
  EXPECT_THAT(error(config),
              HasSubstr("layer_types[3]: a layer that slides, and sliding_window is"));
  config.erase("layer_types");
  EXPECT_EQ(sliding_layers(parse(config)), 0U);
  config = published("Qwen2.5-7B-Instruct");
  config["layer_types"] = std::vector<std::string>(28, "full_attention");
  config["layer_types"][3] = "chunked_attention";
  EXPECT_THAT(error(config), HasSubstr("layer_types[3]: expected \"full_attention\" or"));
  config["layer_types"].erase(0);
  EXPECT_THAT(error(config), HasSubstr("layer_types: expected one of each of the 28 layers"));
}

TEST(Families, ScaledRotary) {
  const numerics::RotarySpec llama = read("Llama-3.1-8B-Instruct").rotaries[0];
  EXPECT_EQ(llama.scaling, RotaryScaling::kLlama3);
  EXPECT_EQ(llama.factor, 8.0);
  EXPECT_EQ(llama.original_positions, 8192.0);
  EXPECT_EQ(llama.theta, 500000.0);
  const ModelConfig yarn = read("Qwen2.5-7B-Instruct with yarn");
  EXPECT_EQ(yarn.rotaries[0].scaling, RotaryScaling::kYarn);
  EXPECT_EQ(yarn.max_positions, 131072U);
  EXPECT_NEAR(yarn.rotaries[0].attention_factor, 0.1 * std::log(4.0) + 1, 1e-12);
}

// The same model by both versions of transformers.
TEST(Families, RopeParametersMeanWhatRopeScalingMeant) {
  json config = published("Llama-3.1-8B-Instruct");
  const ModelConfig four = parse(config);
  json parameters = config["rope_scaling"];
  parameters["rope_theta"] = config["rope_theta"];
  config.erase("rope_scaling");
  config.erase("rope_theta");
  config["rope_parameters"] = parameters;
  config["dtype"] = config["torch_dtype"];
  config.erase("torch_dtype");
  EXPECT_EQ(parse(config).rotaries, four.rotaries);
  EXPECT_EQ(read("Llama-3.2-1B by transformers 5").rotaries[0].factor, 32.0);
}

TEST(Families, ScalingsByLengthAreRefusedWithTheReason) {
  for (const auto* type : {"dynamic", "longrope", "su"}) {
    json config = published("Llama-2-7b-hf");
    config["rope_scaling"] = {{"type", type}, {"factor", 2.0}};
    EXPECT_THAT(error(config), HasSubstr("with the length of the text")) << type;
    EXPECT_THAT(error(config), HasSubstr("rope_scaling.type")) << type;
  }
  json config = published("Llama-2-7b-hf");
  config["rope_scaling"] = {{"rope_type", "mrope"}};
  EXPECT_THAT(error(config), HasSubstr("expected one of default, linear, llama3, yarn"));
}

TEST(Families, SmolLm3SkipsRotaryInEveryFourthLayer) {
  json config = published("SmolLM3-3B");
  const auto without = [](const ModelConfig& c, std::size_t i) {
    return c.layer_kinds[i].rotary == LayerKind::kNoRotary;
  };
  ModelConfig read = parse(config);
  EXPECT_TRUE(without(read, 3) && without(read, 35) && !without(read, 4));
  config.erase("no_rope_layers");
  read = parse(config);
  EXPECT_TRUE(without(read, 3) && without(read, 35) && !without(read, 4));
}

TEST(Families, Gemma2) {
  const ModelConfig config = read("gemma-2-9b-it");
  EXPECT_EQ(config.norm, NormKind::kRmsPlusOne);
  EXPECT_EQ(config.activation, Activation::kGeluGated);
  EXPECT_EQ(config.embedding_scale, 59.75F);  // the root of 3584, as bf16
  EXPECT_EQ(config.score_cap, 50.0F);
  EXPECT_EQ(config.logit_cap, 30.0F);
  EXPECT_EQ(config.score_scale, numerics::score_scale(256));
  EXPECT_EQ(config.layer_kinds[0].window, 4096U);
  EXPECT_EQ(config.layer_kinds[1].window, LayerKind::kWholeContext);
  EXPECT_EQ(read("gemma-2-27b-it").score_scale, numerics::score_scale(144));
}

TEST(Families, Gemma3HasTwoThetasAndMayBePartOfMore) {
  const ModelConfig config = read("gemma-3-4b-it");
  EXPECT_TRUE(config.nested && config.tied_embeddings);
  EXPECT_EQ(config.query_heads, 8U);
  EXPECT_EQ(config.vocabulary, 262208U);
  EXPECT_EQ(config.score_cap, 0.0F);
  ASSERT_EQ(config.rotaries.size(), 2U);
  EXPECT_EQ(config.rotaries[0].scaling, RotaryScaling::kLinear);
  EXPECT_EQ(config.rotaries[0].theta, 1e6);
  EXPECT_EQ(config.rotaries[1].scaling, RotaryScaling::kNone);
  EXPECT_EQ(config.rotaries[1].theta, 1e4);
  EXPECT_EQ(config.layer_kinds[5].window, LayerKind::kWholeContext);
  EXPECT_EQ(config.layer_kinds[5].rotary, 0U);
  EXPECT_EQ(config.layer_kinds[4].window, 1024U);
  EXPECT_EQ(config.layer_kinds[4].rotary, 1U);
  const ModelConfig five = read("gemma-3-270m by transformers 5");
  EXPECT_EQ(five.rotaries[0].theta, 1e6);
  EXPECT_EQ(five.rotaries[1].theta, 1e4);
  EXPECT_EQ(sliding_layers(five), 15U);
}

// Transformers has no window to build the mask of such a layer with, and stops.
TEST(Families, GemmasWithoutAWindowHaveNoSlidingLayers) {
  for (const auto* name : {"gemma-2-9b-it", "gemma-3-1b-it", "gemma-3-270m by transformers 5"}) {
    json config = published(name);
    config["sliding_window"] = nullptr;
    EXPECT_THAT(error(config), HasSubstr("a layer that slides, and sliding_window is null"))
        << name;
    config["layer_types"] =
        std::vector<std::string>(config["num_hidden_layers"].get<std::size_t>(), "full_attention");
    const ModelConfig whole = parse(config);
    EXPECT_EQ(sliding_layers(whole), 0U) << name;
    EXPECT_TRUE(
        std::ranges::all_of(whole.layer_kinds, [](const auto& k) { return k.rotary == 0; }));
  }
}

TEST(Families, TheOthers) {
  const ModelConfig granite = read("granite-3.1-2b-instruct");
  EXPECT_EQ(granite.embedding_scale, 12.0F);
  EXPECT_EQ(granite.residual_scale, 0.22F);
  EXPECT_EQ(granite.logit_divisor, 8.0F);
  EXPECT_EQ(granite.score_scale, 0x1.715476p+0F * 0.015625F);
  EXPECT_EQ(read("OLMo-2-1124-7B").qk_norm, QkNorm::kWidth);
  const ModelConfig glm = read("glm-4-9b-chat-hf");
  EXPECT_TRUE(glm.rotaries[0].interleaved && glm.qkv_bias && !glm.output_bias);
  EXPECT_EQ(glm.rotaries[0].size, 64U);
  const ModelConfig star = read("starcoder2-3b");
  EXPECT_EQ(star.norm, NormKind::kLayer);
  EXPECT_EQ(star.activation, Activation::kGelu);
  EXPECT_TRUE(star.qkv_bias && star.output_bias && star.mlp_bias && star.tied_embeddings);
  EXPECT_EQ(star.layer_kinds[0].window, 4096U);
  EXPECT_EQ(read("Phi-3-mini-4k-instruct").layer_kinds[0].window, 2047U);
  const ModelConfig small = read("Mistral-Small-3.1-24B-Instruct-2503");
  EXPECT_TRUE(small.nested && !small.tied_embeddings);
  EXPECT_EQ(sliding_layers(small), 0U);
}

TEST(Families, ErrorsInANestedPartNameIt) {
  json config = published("gemma-3-4b-it");
  config["text_config"]["hidden_size"] = 7;
  EXPECT_THAT(error(config), HasSubstr("text_config.hidden_size: expected a multiple of 16"));
  config.erase("text_config");
  EXPECT_THAT(error(config), HasSubstr("\"text_config\" is missing"));
}

}  // namespace
}  // namespace engine::model
