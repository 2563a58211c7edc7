#include "model/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "model/json_file.h"

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

// What Hugging Face's code for a model type does where config.json is silent.
struct Family {
  std::string_view model_type;
  bool explicit_only;  // nothing has a default
  bool qk_norm;
  bool qkv_bias;
};

constexpr std::array<Family, 5> kFamilies{{
    {"kvpc", true, false, false},
    {"llama", false, false, false},
    {"mistral", false, false, false},
    {"qwen2", false, false, true},
    {"qwen3", false, true, false},
}};

const Family& family_of(const JsonNode& root) {
  const std::string name = root.at("model_type").string();
  const auto* const found = std::ranges::find(kFamilies, name, &Family::model_type);
  if (found != kFamilies.end()) return *found;
  std::vector<std::string_view> names;
  names.reserve(kFamilies.size());
  for (const Family& family : kFamilies)
    names.push_back(family.model_type);
  root.at("model_type").fail_expected(fmt::format("one of {}", fmt::join(names, ", ")));
}

// An optional member; "kvpc" must write it.
std::optional<JsonNode> option(const JsonNode& root, const Family& family, std::string_view key) {
  return family.explicit_only ? root.at(key) : root.find(key);
}

bool flag(const JsonNode& root, const Family& family, std::string_view key, bool fallback) {
  const auto node = option(root, family, key);
  return node ? node->boolean() : fallback;
}

std::size_t multiple_of(std::size_t step, const JsonNode& node, std::size_t max) {
  const std::size_t value = node.integer(1, max);
  if (value % step != 0) node.fail_expected(fmt::format("a multiple of {}", step));
  return value;
}

void require_absent(const JsonNode& root, std::string_view key) {
  if (root.find(key)) root.at(key).fail_expected("null or nothing: not supported");
}

void require_false(const JsonNode& root, std::string_view key) {
  const auto node = root.find(key);
  if (node && node->boolean()) node->fail_expected("false: true is not supported");
}

void require_text(const JsonNode& node, std::string_view expected) {
  if (node.string() != expected) node.fail_expected(fmt::format("\"{}\"", expected));
}

void refuse_unsupported(const JsonNode& root) {
  require_text(root.at("hidden_act"), "silu");
  require_text(root.at(root.find("dtype") ? "dtype" : "torch_dtype"), "bfloat16");
  for (const auto* key : {"rope_scaling", "rope_parameters", "quantization_config"}) {
    require_absent(root, key);
  }
  require_false(root, "use_sliding_window");
  require_false(root, "mlp_bias");
  const auto types = root.find("layer_types");
  for (std::size_t i = 0; types && i < types->require_array(); ++i) {
    require_text(types->element(i), "full_attention");
  }
}

// Qwen's configs name a window that use_sliding_window turns off; Mistral's is on if named.
void refuse_sliding_window(const JsonNode& root) {
  if (!root.find("use_sliding_window")) require_absent(root, "sliding_window");
}

void read_sizes(ModelConfig& config, const JsonNode& root, const Family& family) {
  config.hidden = multiple_of(kMatmulStep, root.at("hidden_size"), kMaxWidth);
  config.intermediate = multiple_of(kMatmulStep, root.at("intermediate_size"), kMaxWidth);
  config.layers = root.at("num_hidden_layers").integer(1, kMaxLayers);
  config.vocabulary = root.at("vocab_size").integer(2, kMaxVocabulary);
  config.max_positions = root.at("max_position_embeddings").integer(1, kMaxPositions);
  config.tied_embeddings = flag(root, family, "tie_word_embeddings", false);
  config.norm_epsilon = static_cast<float>(root.at("rms_norm_eps").number());
  if (!(config.norm_epsilon > 0 && config.norm_epsilon <= 0.1F)) {
    root.at("rms_norm_eps").fail_expected("a number above 0, at most 0.1");
  }
}

void read_heads(ModelConfig& config, const JsonNode& root, const Family& family) {
  config.query_heads = root.at("num_attention_heads").integer(1, kMaxHeads);
  const auto kv_heads = option(root, family, "num_key_value_heads");
  config.kv_heads = kv_heads ? kv_heads->integer(1, kMaxHeads) : config.query_heads;
  if (config.query_heads % config.kv_heads != 0) {
    kv_heads->fail_expected(
        fmt::format("a divisor of num_attention_heads ({})", config.query_heads));
  }
  if (const auto head_size = option(root, family, "head_dim")) {
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

void read_rotary(ModelConfig& config, const JsonNode& root, const Family& family) {
  const auto theta = option(root, family, "rope_theta");
  config.rope_theta = theta ? theta->number() : 10000.0;
  if (!(config.rope_theta >= 1 && config.rope_theta <= 1e12)) {
    theta->fail_expected("a number from 1 to 1e12");
  }
  const auto factor = option(root, family, "partial_rotary_factor");
  const double size = (factor ? factor->number() : 1.0) * static_cast<double>(config.head_size);
  const bool sane = size >= 2 && size <= static_cast<double>(config.head_size);
  config.rotary_size = sane ? static_cast<std::size_t>(size) : 0;
  if (!sane || static_cast<double>(config.rotary_size) != size || config.rotary_size % 2 != 0) {
    factor->fail_expected(fmt::format(
        "a factor from 0 to 1 that makes an even number of head_dim {}", config.head_size));
  }
}

void read_attention_options(ModelConfig& config, const JsonNode& root, const Family& family) {
  config.qk_norm = flag(root, family, "use_qk_norm", family.qk_norm);
  config.qkv_bias = flag(root, family, "attention_bias", family.qkv_bias);
  if (config.qkv_bias && !family.qkv_bias && !family.explicit_only) {
    root.at("attention_bias")
        .fail_expected(fmt::format("false: {} would also put a bias on the output projection",
                                   family.model_type));
  }
}

void read_mtp(ModelConfig& config, const JsonNode& root, const Family& family) {
  const auto layers = option(root, family, "num_nextn_predict_layers");
  config.mtp = layers && layers->integer(0, 1) == 1;
  if (!config.mtp) return;
  const auto window = option(root, family, "mtp_sliding_window");
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

}  // namespace

ModelConfig ModelConfig::parse(std::string_view json, const std::filesystem::path& file) {
  const nlohmann::json parsed = parse_json(json, file);
  const JsonNode root(parsed, file);
  const Family& family = family_of(root);
  refuse_unsupported(root);
  refuse_sliding_window(root);
  ModelConfig config;
  config.model_type = family.model_type;
  read_sizes(config, root, family);
  read_heads(config, root, family);
  read_rotary(config, root, family);
  read_attention_options(config, root, family);
  read_mtp(config, root, family);
  add_stop_tokens(config, root);
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
