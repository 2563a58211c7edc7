#include "model/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "case_name.h"
#include "test_files.h"

namespace engine::model {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

json llama() {
  return json::parse(R"({"model_type": "llama", "hidden_size": 128, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 256,
    "vocab_size": 1000, "max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
    "hidden_act": "silu", "torch_dtype": "bfloat16", "eos_token_id": 2})");
}

json explicit_config() {
  json config = llama();
  config.update(json::parse(R"({"model_type": "kvpc", "head_dim": 48, "rope_theta": 5000.0,
    "partial_rotary_factor": 0.5, "use_qk_norm": true, "attention_bias": true,
    "tie_word_embeddings": true, "num_nextn_predict_layers": 1, "mtp_sliding_window": 77})"));
  return config;
}

json with(json config, const std::string& key, json value) {
  config[key] = std::move(value);
  return config;
}

ModelConfig parse(const json& config) {
  return ModelConfig::parse(config.dump(), "config.json");
}

std::string error(const json& config) {
  return error_of([&] { parse(config); });
}

TEST(Config, ReadsEveryOption) {
  const ModelConfig config = parse(explicit_config());
  EXPECT_EQ(config.model_type, "kvpc");
  EXPECT_EQ(config.hidden, 128U);
  EXPECT_EQ(config.layers, 2U);
  EXPECT_EQ(config.query_heads, 4U);
  EXPECT_EQ(config.kv_heads, 2U);
  EXPECT_EQ(config.head_size, 48U);
  EXPECT_EQ(config.intermediate, 256U);
  EXPECT_EQ(config.vocabulary, 1000U);
  EXPECT_EQ(config.max_positions, 2048U);
  EXPECT_EQ(config.rotaries[0].size, 24U);
  EXPECT_EQ(config.norm_epsilon, 1e-6F);
  EXPECT_EQ(config.rotaries[0].theta, 5000.0);
  EXPECT_EQ(config.qk_norm, QkNorm::kHead);
  EXPECT_TRUE(config.qkv_bias && config.tied_embeddings && config.mtp);
  EXPECT_FALSE(config.output_bias);
  EXPECT_EQ(config.mtp_window, 77U);
  EXPECT_THAT(config.stop_tokens, ElementsAre(2));
}

TEST(Config, DefaultsOfLlama) {
  json config = llama();
  config.erase("num_key_value_heads");
  const ModelConfig read = parse(config);
  EXPECT_EQ(read.kv_heads, 4U);
  EXPECT_EQ(read.head_size, 32U);
  EXPECT_EQ(read.rotaries[0].size, 32U);
  EXPECT_EQ(read.rotaries[0].theta, 10000.0);
  EXPECT_EQ(read.qk_norm, QkNorm::kNone);
  EXPECT_FALSE(read.qkv_bias || read.tied_embeddings || read.mtp);
  EXPECT_EQ(read.mtp_window, 0U);
}

TEST(Config, WhatTheModelTypeImplies) {
  EXPECT_EQ(parse(with(llama(), "model_type", "qwen3")).qk_norm, QkNorm::kHead);
  EXPECT_FALSE(parse(with(llama(), "model_type", "qwen3")).qkv_bias);
  EXPECT_TRUE(parse(with(llama(), "model_type", "qwen2")).qkv_bias);
  EXPECT_FALSE(parse(with(llama(), "model_type", "mistral")).qkv_bias);
}

TEST(Config, MtpWindowHasADefault) {
  EXPECT_EQ(parse(with(llama(), "num_nextn_predict_layers", 1)).mtp_window, 512U);
}

TEST(Config, KvpcHasNoDefaults) {
  const json complete = explicit_config();
  for (const auto& [key, unused] : complete.items()) {
    if (key == "eos_token_id") continue;  // a model may have no stop token
    json config = complete;
    config.erase(key);
    EXPECT_THAT(error(config), HasSubstr("is missing")) << key;
  }
}

TEST(Config, StopTokensAreSortedAndUnique) {
  EXPECT_THAT(parse(with(llama(), "eos_token_id", {7, 3, 7})).stop_tokens, ElementsAre(3, 7));
  EXPECT_THAT(parse(with(llama(), "eos_token_id", nullptr)).stop_tokens, ElementsAre());
}

TEST(Config, GenerationConfigAddsStopTokens) {
  const TempFolder dir;
  write_bytes(dir / "config.json", llama().dump());
  EXPECT_THAT(ModelConfig::load(dir.path()).stop_tokens, ElementsAre(2));
  write_bytes(dir / "generation_config.json", R"({"eos_token_id": [9, 2], "top_k": 50})");
  EXPECT_THAT(ModelConfig::load(dir.path()).stop_tokens, ElementsAre(2, 9));
  write_bytes(dir / "generation_config.json", R"({"eos_token_id": 1000})");
  EXPECT_THAT(error_of([&] { ModelConfig::load(dir.path()); }),
              HasSubstr("generation_config.json: eos_token_id: expected an integer from 0 to 999"));
}

struct BadValue {
  std::string key;
  json value;
  std::string message;
};

class ConfigRefuses : public testing::TestWithParam<BadValue> {};

TEST_P(ConfigRefuses, NamingThePlace) {
  const BadValue& bad = GetParam();
  const std::string message = error(with(llama(), bad.key, bad.value));
  EXPECT_THAT(message, StartsWith("config.json: "));
  EXPECT_THAT(message, HasSubstr(bad.message));
}

INSTANTIATE_TEST_SUITE_P(
    Values, ConfigRefuses,
    testing::Values(
        BadValue{"model_type", "gpt2", "model_type: \"gpt2\" needs learnt positions"},
        BadValue{"model_type", 5, "expected a string, found 5"},
        BadValue{"hidden_size", 0, "hidden_size: expected an integer from 1 to"},
        BadValue{"hidden_size", -16, "found -16"}, BadValue{"hidden_size", 128.0, "found 128.0"},
        BadValue{"hidden_size", "128", "found \"128\""},
        BadValue{"hidden_size", nullptr, "hidden_size: expected"},
        BadValue{"hidden_size", 136, "a multiple of 16, found 136"},
        BadValue{"hidden_size", 1U << 30U, "expected an integer from 1 to"},
        BadValue{"hidden_size", 18446744073709551615U, "found 18446744073709551615"},
        BadValue{"intermediate_size", 100, "a multiple of 16"},
        BadValue{"num_hidden_layers", 0, "num_hidden_layers: expected"},
        BadValue{"num_attention_heads", 3, "a divisor of num_attention_heads (3)"},
        BadValue{"num_attention_heads", 100, "hidden_size / num_attention_heads = 128 / 100"},
        BadValue{"num_attention_heads", 16, "hidden_size / num_attention_heads = 128 / 16"},
        BadValue{"num_key_value_heads", 3, "num_key_value_heads: expected a divisor"},
        BadValue{"head_dim", 24, "head_dim: expected a multiple of 16"},
        BadValue{"vocab_size", 1, "vocab_size: expected an integer from 2"},
        BadValue{"max_position_embeddings", 0, "max_position_embeddings: expected"},
        BadValue{"rms_norm_eps", 0, "rms_norm_eps: expected a number above 0"},
        BadValue{"rms_norm_eps", 1, "rms_norm_eps: expected"},
        BadValue{"rope_theta", 0.5, "rope_theta: expected a number from 1"},
        BadValue{"partial_rotary_factor", 1.5, "partial_rotary_factor: expected"},
        BadValue{"partial_rotary_factor", 0, "partial_rotary_factor: expected"},
        BadValue{"partial_rotary_factor", 0.09375, "an even number of head_dim 32"},
        BadValue{"partial_rotary_factor", 0.51, "an even number of head_dim 32"},
        BadValue{"tie_word_embeddings", 1, "expected true or false, found 1"},
        BadValue{"num_nextn_predict_layers", 2, "an integer from 0 to 1, found 2"},
        BadValue{"eos_token_id", 1000, "eos_token_id: expected an integer from 0 to 999"},
        BadValue{"eos_token_id", {1, -1}, "eos_token_id[1]"},
        BadValue{"hidden_act", "relu", "hidden_act: expected \"silu\" or"},
        BadValue{"rope_scaling", {{"type", "linear"}}, "rope_scaling: \"factor\" is missing"},
        BadValue{
            "quantization_config", {{"quant_method", "gptq"}}, "quant_method: expected \"fp8\""},
        BadValue{"torch_dtype", "float64", "torch_dtype: expected one of bfloat16"},
        BadValue{"dtype", "int8", "dtype: expected one of bfloat16"}),
    [](const auto& test) { return case_name(test.index, test.param.message); });

TEST(Config, MtpWindowIsChecked) {
  json config = with(llama(), "num_nextn_predict_layers", 1);
  EXPECT_THAT(error(with(config, "mtp_sliding_window", 0)), HasSubstr("mtp_sliding_window"));
}

TEST(Config, RefusesWhatIsNotJson) {
  const auto text_error = [](std::string_view text) {
    return error_of([&] { ModelConfig::parse(text, "config.json"); });
  };
  EXPECT_THAT(text_error("{\"a\": 1,\n  oops}"), HasSubstr("line 2, column 3"));
  EXPECT_THAT(text_error(""), HasSubstr("parse error"));
  EXPECT_THAT(text_error("[]"), HasSubstr("expected an object, found an array"));
  EXPECT_THAT(text_error(R"({"a": 1, "a": 2})"), HasSubstr("\"a\" occurs twice"));
  EXPECT_THAT(text_error(R"({"a": NaN})"), HasSubstr("parse error"));
  EXPECT_THAT(text_error(R"({"a": 1e999})"), StartsWith("config.json: "));
  EXPECT_THAT(text_error("{\"\xff\": 1}"), HasSubstr("invalid"));
  EXPECT_THAT(text_error(std::string(100'000, '[')), HasSubstr("nested deeper than 32"));
}

TEST(Config, MissingFile) {
  const TempFolder dir;
  EXPECT_THAT(error_of([&] { ModelConfig::load(dir.path()); }),
              HasSubstr("config.json: no such file"));
}

}  // namespace
}  // namespace engine::model
