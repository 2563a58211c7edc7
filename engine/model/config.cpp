#include "model/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/family.h"
#include "model/json_file.h"
#include "model/latent_config.h"
#include "model/rotary_config.h"
#include "numerics/attention.h"

namespace engine::model {
namespace {

constexpr std::size_t kMaxConfigBytes = 4U << 20U;

// Bounds far above any real model, low enough that no product of a few of them overflows.
constexpr std::size_t kMaxWidth = 1U << 20U;  // hidden, intermediate
constexpr std::size_t kMaxLayers = 4096;
constexpr std::size_t kMaxHeads = 4096;
constexpr std::size_t kMaxHeadSize = 1024;
constexpr std::size_t kMaxVocabulary = 1U << 24U;
constexpr std::size_t kMaxPositions = 1U << 24U;
constexpr std::size_t kMatmulStep = 16;  // a matrix product's inner length is a multiple of it
constexpr std::size_t kDefaultMtpWindow = 512;

std::size_t multiple_of(std::size_t step, const JsonNode& node, std::size_t max) {
  const std::size_t value = node.integer(1, max);
  if (value % step != 0) node.fail_expected(fmt::format("a multiple of {}", step));
  return value;
}

// Weights may be stored in any of these; they become bf16 on load.
void check_dtype(const JsonNode& root) {
  for (const auto* key : {"dtype", "torch_dtype"}) {
    const auto node = root.find(key);
    if (!node) continue;
    const std::string name = node->string();
    if (name != "bfloat16" && name != "float16" && name != "float32") {
      node->fail_expected("one of bfloat16, float16, float32");
    }
  }
}

void check_quantization(const JsonNode& root) {
  const auto quantization = root.find("quantization_config");
  if (!quantization) return;
  const JsonNode method = quantization->at("quant_method");
  const std::string name = method.string();
  if (name != "fp8" && name != "compressed-tensors") {
    method.fail_expected("\"fp8\" or \"compressed-tensors\"");
  }
}

void read_sizes(ModelConfig& config, const JsonNode& root) {
  config.hidden = multiple_of(kMatmulStep, root.at("hidden_size"), kMaxWidth);
  config.intermediate = multiple_of(kMatmulStep, root.at("intermediate_size"), kMaxWidth);
  config.layers = root.at("num_hidden_layers").integer(1, kMaxLayers);
  config.layer_kinds.resize(config.layers);
  config.vocabulary = root.at("vocab_size").integer(2, kMaxVocabulary);
  config.max_positions = root.at("max_position_embeddings").integer(1, kMaxPositions);
  config.tied_embeddings = root.flag("tie_word_embeddings");
  const JsonNode epsilon = root.at(root.find("norm_epsilon") ? "norm_epsilon" : "rms_norm_eps");
  config.norm_epsilon = static_cast<float>(epsilon.number());
  if (!(config.norm_epsilon > 0 && config.norm_epsilon <= 0.1F)) {
    epsilon.fail_expected("a number above 0, at most 0.1");
  }
}

void read_heads(ModelConfig& config, const JsonNode& root) {
  config.query_heads = root.at("num_attention_heads").integer(1, kMaxHeads);
  const auto kv_heads = root.find("num_key_value_heads");
  config.kv_heads = kv_heads ? kv_heads->integer(1, kMaxHeads) : config.query_heads;
  if (config.query_heads % config.kv_heads != 0) {
    kv_heads->fail_expected(
        fmt::format("a divisor of num_attention_heads ({})", config.query_heads));
  }
  if (const auto head_size = root.find("head_dim")) {
    config.head_size = multiple_of(kMatmulStep, *head_size, kMaxHeadSize);
    return;
  }
  config.head_size = config.hidden / config.query_heads;
  if (config.hidden % config.query_heads != 0 || config.head_size % kMatmulStep != 0 ||
      config.head_size > kMaxHeadSize) {
    root.fail(
        fmt::format("no head_dim, and hidden_size / num_attention_heads = {} / {} is not a "
                    "multiple of {} up to {}",
                    config.hidden, config.query_heads, kMatmulStep, kMaxHeadSize));
  }
}

// The Gemmas' configurations say "gelu" and mean the form with tanh.
void read_activation(ModelConfig& config, const JsonNode& root) {
  const JsonNode node =
      root.at(root.find("hidden_activation") ? "hidden_activation" : "hidden_act");
  const std::string name = node.string();
  const bool gemma = config.model_type == "gemma";
  if (name == "silu") {
    config.activation = numerics::Activation::kSiluGated;
  } else if (name == "gelu_pytorch_tanh" || (gemma && name == "gelu")) {
    config.activation = numerics::Activation::kGeluGated;
  } else {
    node.fail_expected("\"silu\" or \"gelu_pytorch_tanh\"");
  }
}

// yarn makes the context longer than max_position_embeddings may say.
void read_rotary(ModelConfig& config, const JsonNode& root) {
  const numerics::RotarySpec spec =
      read_rotary_spec(root, find_rope_parameters(root, "full_attention"), "rope_theta",
                       config.head_size, config.max_positions);
  config.rotaries = {spec};
  if (spec.scaling == numerics::RotaryScaling::kYarn) {
    const double stretched = spec.original_positions * spec.factor;
    const auto whole =
        static_cast<std::size_t>(std::min(stretched, static_cast<double>(kMaxPositions)));
    config.max_positions = std::max(config.max_positions, whole);
  }
}

void read_mtp(ModelConfig& config, const JsonNode& root) {
  const bool renamed = root.find("num_mtp_layers").has_value();  // by transformers 5
  const auto layers = root.find(renamed ? "num_mtp_layers" : "num_nextn_predict_layers");
  config.mtp = layers && layers->integer(0, 1) == 1;
  if (!config.mtp) return;
  const auto window = root.find("mtp_sliding_window");
  config.mtp_window = window ? window->integer(1, kMaxPositions) : kDefaultMtpWindow;
}

// eos_token_id: a number or a list. Adds to the config's, keeping them sorted and unique.
void add_stop_tokens(ModelConfig& config, const JsonNode& root) {
  const auto ids = root.find("eos_token_id");
  if (!ids) return;
  const auto add = [&](const JsonNode& id) {
    config.stop_tokens.push_back(static_cast<Token>(id.integer(0, config.vocabulary - 1)));
  };
  if (!ids->value().is_array()) {
    add(*ids);
  } else {
    for (std::size_t i = 0; i < ids->value().size(); ++i)
      add(ids->element(i));
  }
  std::ranges::sort(config.stop_tokens);
  config.stop_tokens.erase(std::unique(config.stop_tokens.begin(), config.stop_tokens.end()),
                           config.stop_tokens.end());
}

// The text model's part of a larger configuration, with the keys that only the whole has.
nlohmann::json text_part(const JsonNode& whole, const NestedText& nested) {
  const JsonNode part = whole.at(nested.key);
  part.require_object();
  nlohmann::json text = part.value();
  if (!part.find("model_type")) text["model_type"] = nested.model_type;
  for (const auto* key :
       {"dtype", "torch_dtype", "quantization_config", "eos_token_id", "tie_word_embeddings"}) {
    if (whole.find(key)) text[key] = whole.at(key).value();
  }
  return text;
}

// A default stop token means the family's usual vocabulary; a smaller one has no such token.
void drop_foreign_stop_tokens(nlohmann::json& defaults, std::size_t vocabulary) {
  const auto ids = defaults.find("eos_token_id");
  if (ids == defaults.end()) return;
  const nlohmann::json list = ids->is_array() ? *ids : nlohmann::json::array({*ids});
  for (const nlohmann::json& id : list) {
    if (id.get<std::size_t>() >= vocabulary) return static_cast<void>(defaults.erase(ids));
  }
}

ModelConfig read_text_model(const JsonNode& given) {
  const Family& family = find_family(given.at("model_type"));
  nlohmann::json complete = nlohmann::json::parse(family.defaults);
  if (given.find("vocab_size")) {
    drop_foreign_stop_tokens(complete, given.at("vocab_size").integer(2, kMaxVocabulary));
  }
  complete.update(given.value());
  const JsonNode root(complete, given.file(), given.place());
  check_dtype(root);
  check_quantization(root);
  ModelConfig config;
  config.model_type = family.model_type;
  config.names = &family.names;
  read_sizes(config, root);
  family.latent ? read_latent_sizes(config, root) : read_heads(config, root);
  read_activation(config, root);
  read_rotary(config, root);
  read_mtp(config, root);
  config.score_scale = numerics::score_scale(config.head_size);
  family.read(config, root);
  add_stop_tokens(config, root);
  return config;
}

}  // namespace

ModelConfig ModelConfig::parse(std::string_view json, const std::filesystem::path& file) {
  const nlohmann::json parsed = parse_json(json, file);
  const JsonNode root(parsed, file);
  const NestedText* const nested = find_nested_text(root.at("model_type").string());
  if (nested == nullptr) return read_text_model(root);
  const nlohmann::json text = text_part(root, *nested);
  ModelConfig config = read_text_model(JsonNode(text, file, std::string(nested->key)));
  config.nested = true;
  return config;
}

ModelConfig ModelConfig::load(const std::filesystem::path& dir) {
  const std::filesystem::path file = dir / "config.json";
  ModelConfig config = parse(read_file(file, kMaxConfigBytes), file);
  const std::filesystem::path generation = dir / "generation_config.json";
  if (!std::filesystem::exists(generation)) return config;
  const nlohmann::json parsed = parse_json(read_file(generation, kMaxConfigBytes), generation);
  add_stop_tokens(config, JsonNode(parsed, generation));
  return config;
}

}  // namespace engine::model
