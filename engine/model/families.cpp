#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/family.h"
#include "model/rotary_config.h"
#include "numerics/attention.h"

namespace engine::model {
namespace {

using numerics::Activation;
using numerics::NormKind;

constexpr std::size_t kMaxWindow = 1U << 24U;

bool flag(const JsonNode& root, std::string_view key) {
  const auto node = root.find(key);
  return node && node->boolean();
}

float positive(const JsonNode& root, std::string_view key) {
  const JsonNode node = root.at(key);
  const double value = node.number();
  if (!(value > 0 && value <= 1e6)) node.fail_expected("a number above 0, at most 1e6");
  return static_cast<float>(value);
}

// A cap that may be null: none.
float cap_or_none(const JsonNode& root, std::string_view key) {
  return root.find(key) ? positive(root, key) : 0.0F;
}

// The window's length where `key` names one.
std::size_t window_or_whole(const JsonNode& root) {
  const auto node = root.find("sliding_window");
  return node ? node->integer(1, kMaxWindow) : LayerKind::kWholeContext;
}

// The same of types whose window is off unless it is turned on.
std::size_t window_if_used(const JsonNode& root) {
  return flag(root, "use_sliding_window") ? window_or_whole(root) : LayerKind::kWholeContext;
}

// Which layers slide: layer_types, or else those that `slides` picks by index. A layer that slides
// needs a window: what others do without one differs, and transformers stops.
template <typename Slides>
void read_windows(ModelConfig& config, const JsonNode& root, std::size_t window, Slides&& slides) {
  const auto types = root.find("layer_types");
  if (types && types->require_array() != config.layers) {
    types->fail_expected(fmt::format("one of each of the {} layers", config.layers));
  }
  for (std::size_t i = 0; i < config.layers; ++i) {
    bool sliding = slides(i);
    if (types) {
      const std::string type = types->element(i).string();
      sliding = type == "sliding_attention";
      if (!sliding && type != "full_attention") {
        types->element(i).fail_expected("\"full_attention\" or \"sliding_attention\"");
      }
    }
    if (sliding && window == LayerKind::kWholeContext) {
      (types ? types->element(i) : root).fail("a layer that slides, and sliding_window is null");
    }
    if (sliding) config.layer_kinds[i].window = window;
  }
}

// Types whose every layer has the window.
void read_window_of_all(ModelConfig& config, const JsonNode& root) {
  const std::size_t window = window_or_whole(root);
  for (LayerKind& kind : config.layer_kinds)
    kind.window = window;
}

void read_attention_bias(ModelConfig& config, const JsonNode& root) {
  config.qkv_bias = config.output_bias = flag(root, "attention_bias");
}

void read_llama(ModelConfig& config, const JsonNode& root) {
  read_attention_bias(config, root);
  config.mlp_bias = flag(root, "mlp_bias");
}

// This project's own: nothing has a default, so every key must be there.
void read_kvpc(ModelConfig& config, const JsonNode& root) {
  for (const auto* key :
       {"num_key_value_heads", "head_dim", "rope_theta", "partial_rotary_factor", "torch_dtype",
        "tie_word_embeddings", "num_nextn_predict_layers", "mtp_sliding_window"}) {
    root.at(key);
  }
  config.qk_norm = root.at("use_qk_norm").boolean() ? QkNorm::kHead : QkNorm::kNone;
  config.qkv_bias = root.at("attention_bias").boolean();
}

void read_qwen_windows(ModelConfig& config, const JsonNode& root) {
  const std::size_t window = window_if_used(root);
  const std::size_t first = root.at("max_window_layers").integer(0, kMaxWindow);
  const bool slides = window != LayerKind::kWholeContext;
  read_windows(config, root, window, [&](std::size_t i) { return slides && i >= first; });
}

void read_qwen2(ModelConfig& config, const JsonNode& root) {
  config.qkv_bias = true;
  read_qwen_windows(config, root);
}

void read_qwen3(ModelConfig& config, const JsonNode& root) {
  config.qk_norm = QkNorm::kHead;
  read_attention_bias(config, root);
  read_qwen_windows(config, root);
}

// Every fourth layer has no rotary, if no list says otherwise: 1 in the list is a layer with it.
void read_smollm3(ModelConfig& config, const JsonNode& root) {
  read_llama(config, root);
  const auto list = root.find("no_rope_layers");
  if (list && list->require_array() < config.layers) {
    list->fail_expected(fmt::format("one of each of the {} layers", config.layers));
  }
  const std::size_t interval = root.at("no_rope_layer_interval").integer(1, kMaxWindow);
  for (std::size_t i = 0; i < config.layers; ++i) {
    const bool rotary = list ? list->element(i).integer(0, 1) == 1 : (i + 1) % interval != 0;
    if (!rotary) config.layer_kinds[i].rotary = LayerKind::kNoRotary;
  }
  const std::size_t window = window_if_used(root);
  const bool slides = window != LayerKind::kWholeContext;
  read_windows(config, root, window, [&](std::size_t i) {
    return slides && config.layer_kinds[i].rotary == LayerKind::kNoRotary;
  });
}

void read_phi3(ModelConfig& config, const JsonNode& root) {
  if (config.rotaries[0].scaling != numerics::RotaryScaling::kNone) {
    find_rope_parameters(root, "")->fail(
        "phi3 knows no scaling but longrope, which changes every row's angles with the length of "
        "the text, so that rows kept from a shorter one would be wrong; it is not supported");
  }
  read_window_of_all(config, root);
}

void read_olmo2(ModelConfig& config, const JsonNode& root) {
  read_attention_bias(config, root);
  config.qk_norm = QkNorm::kWidth;
}

void read_granite(ModelConfig& config, const JsonNode& root) {
  read_llama(config, root);
  config.embedding_scale = positive(root, "embedding_multiplier");
  config.residual_scale = positive(root, "residual_multiplier");
  config.logit_divisor = positive(root, "logits_scaling");
  config.score_scale = numerics::score_scale_of(positive(root, "attention_multiplier"));
}

// What the Gemmas share. The embedding's factor is rounded to the weights' type, as in training.
void read_gemma(ModelConfig& config, const JsonNode& root) {
  read_attention_bias(config, root);
  config.norm = NormKind::kRmsPlusOne;
  const auto root_of_width = static_cast<float>(std::sqrt(static_cast<double>(config.hidden)));
  config.embedding_scale = numerics::to_float(numerics::from_float(root_of_width));
  if (flag(root, "use_bidirectional_attention")) {
    root.at("use_bidirectional_attention").fail_expected("false: text is read from left to right");
  }
}

void read_gemma2(ModelConfig& config, const JsonNode& root) {
  read_gemma(config, root);
  config.score_scale =
      numerics::score_scale(root.at("query_pre_attn_scalar").integer(1, 1U << 20U));
  config.score_cap = cap_or_none(root, "attn_logit_softcapping");
  config.logit_cap = cap_or_none(root, "final_logit_softcapping");
  const std::size_t pattern = root.at("sliding_window_pattern").integer(1, kMaxWindow);
  read_windows(config, root, window_or_whole(root),
               [&](std::size_t i) { return (i + 1) % pattern != 0; });
}

// Layers with a window have a rotary table of their own, which is never scaled by rope_scaling.
void read_gemma3(ModelConfig& config, const JsonNode& root) {
  read_gemma2(config, root);
  config.qk_norm = QkNorm::kHead;
  auto local = find_rope_parameters(root, "sliding_attention");
  if (root.find("rope_scaling")) local.reset();
  config.rotaries.push_back(read_rotary_spec(root, local, "rope_local_base_freq", config.head_size,
                                             config.max_positions));
  for (LayerKind& kind : config.layer_kinds) {
    if (kind.window != LayerKind::kWholeContext) kind.rotary = 1;
  }
}

void read_glm(ModelConfig& config, const JsonNode& root) {
  config.qkv_bias = flag(root, "attention_bias");
  for (numerics::RotarySpec& spec : config.rotaries)
    spec.interleaved = true;
}

void read_starcoder2(ModelConfig& config, const JsonNode& root) {
  config.norm = NormKind::kLayer;
  if (config.activation == Activation::kGeluGated) config.activation = Activation::kGelu;
  config.qkv_bias = config.output_bias = config.mlp_bias = flag(root, "use_bias");
  read_window_of_all(config, root);
}

constexpr LayerNames kSandwich{.attention_norm_after = "post_attention_layernorm",
                               .mlp_norm = "pre_feedforward_layernorm",
                               .mlp_norm_after = "post_feedforward_layernorm"};

// The defaults are those of the configuration classes in Hugging Face's transformers 5.24; where
// version 4 had another it is said.
constexpr std::array kFamilies{
    Family{"kvpc", "{}", {}, read_kvpc},
    Family{"llama",
           R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "eos_token_id": 2,
        "tie_word_embeddings": false})",
           {},
           read_llama},
    Family{"mistral",
           R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "hidden_act": "silu", "max_position_embeddings": 131072, "rms_norm_eps": 1e-6,
        "eos_token_id": 2, "tie_word_embeddings": false, "sliding_window": 4096})",
           {},
           read_window_of_all},
    Family{"qwen2",
           R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "hidden_act": "silu", "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
        "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 4096,
        "max_window_layers": 28})",
           {},
           read_qwen2},
    Family{"qwen3",
           R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "head_dim": 128, "hidden_act": "silu", "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-6, "tie_word_embeddings": false, "use_sliding_window": false,
        "sliding_window": 4096, "max_window_layers": 28})",
           {},
           read_qwen3},
    Family{"smollm3",
           R"({"vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 11008,
        "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 4,
        "hidden_act": "silu", "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
        "eos_token_id": 128001, "rope_theta": 2000000.0, "tie_word_embeddings": true,
        "no_rope_layer_interval": 4})",
           {},
           read_smollm3},
    Family{"phi3",
           R"({"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192,
        "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
        "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "eos_token_id": 32000,
        "tie_word_embeddings": false})",
           {.qkv = "self_attn.qkv_proj", .gate_up = "mlp.gate_up_proj"},
           read_phi3},
    Family{"olmo2",
           R"({"vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "eos_token_id": 50279,
        "tie_word_embeddings": false})",
           {.attention_norm = "",
            .attention_norm_after = "post_attention_layernorm",
            .mlp_norm = "",
            .mlp_norm_after = "post_feedforward_layernorm"},
           read_olmo2},
    Family{"granite",
           R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "eos_token_id": 2,
        "tie_word_embeddings": false, "embedding_multiplier": 1.0, "logits_scaling": 1.0,
        "residual_multiplier": 1.0, "attention_multiplier": 1.0})",
           {},
           read_granite},
    Family{"gemma",
           R"({"vocab_size": 256000, "hidden_size": 3072, "intermediate_size": 24576,
        "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16,
        "head_dim": 256, "hidden_act": "gelu_pytorch_tanh", "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-6, "eos_token_id": 1, "tie_word_embeddings": true})",
           {},
           read_gemma},
    Family{"gemma2", R"({"vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
        "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh",
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-6, "eos_token_id": 1,
        "tie_word_embeddings": true, "query_pre_attn_scalar": 256, "sliding_window": 4096,
        "sliding_window_pattern": 2, "final_logit_softcapping": 30.0,
        "attn_logit_softcapping": 50.0})",
           kSandwich, read_gemma2},
    Family{"gemma3_text", R"({"vocab_size": 262208, "hidden_size": 2304,
        "intermediate_size": 9216, "num_hidden_layers": 26, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh",
        "max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "eos_token_id": 1,
        "tie_word_embeddings": true, "query_pre_attn_scalar": 256, "sliding_window": 4096,
        "sliding_window_pattern": 6, "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0})",
           kSandwich, read_gemma3},
    Family{"glm",
           R"({"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 13696,
        "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2,
        "head_dim": 128, "hidden_act": "silu", "max_position_embeddings": 131072,
        "rms_norm_eps": 1.5625e-7, "eos_token_id": [151329, 151336, 151338],
        "tie_word_embeddings": false, "attention_bias": true, "partial_rotary_factor": 0.5})",
           {.gate_up = "mlp.gate_up_proj"},
           read_glm},
    Family{"glm4",
           R"({"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 13696,
        "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2,
        "head_dim": 128, "hidden_act": "silu", "max_position_embeddings": 131072,
        "rms_norm_eps": 1.5625e-7, "eos_token_id": [151329, 151336, 151338],
        "tie_word_embeddings": false, "attention_bias": true, "partial_rotary_factor": 0.5})",
           {.attention_norm_after = "post_self_attn_layernorm",
            .mlp_norm_after = "post_mlp_layernorm",
            .gate_up = "mlp.gate_up_proj"},
           read_glm},
    Family{"starcoder2",
           R"({"vocab_size": 49152, "hidden_size": 3072,
        "intermediate_size": 12288, "num_hidden_layers": 30, "num_attention_heads": 24,
        "num_key_value_heads": 2, "hidden_act": "gelu_pytorch_tanh",
        "max_position_embeddings": 4096, "norm_epsilon": 1e-5, "eos_token_id": 50256,
        "tie_word_embeddings": true, "use_bias": true})",
           {.gate_up = "mlp.c_fc", .down = "mlp.c_proj"},
           read_starcoder2},
};

constexpr std::array kNested{
    std::pair{std::string_view("gemma3"), NestedText{"text_config", "gemma3_text"}},
    std::pair{std::string_view("mistral3"), NestedText{"text_config", "mistral"}},
};

struct Outside {
  std::string_view model_type;
  std::string_view needs;
};

constexpr std::string_view kExperts = "experts";
constexpr std::string_view kLatent = "experts and multi-head latent attention";
constexpr std::string_view kHybrid = "layers of another kind than attention";
constexpr std::string_view kParallel = "attention and MLP that read the same norm";
constexpr std::string_view kLearnt = "learnt positions";

constexpr std::array kOutside{
    Outside{"mixtral", kExperts},
    Outside{"qwen2_moe", kExperts},
    Outside{"qwen3_moe", kExperts},
    Outside{"phimoe", kExperts},
    Outside{"olmoe", kExperts},
    Outside{"granitemoe", kExperts},
    Outside{"gpt_oss", "experts and attention sinks"},
    Outside{"glm4_moe", kExperts},
    Outside{"ernie4_5_moe", kExperts},
    Outside{"minimax", "experts and linear attention"},
    Outside{"llama4", "experts and chunked attention"},
    Outside{"llama4_text", "experts and chunked attention"},
    Outside{"dbrx", kExperts},
    Outside{"deepseek_v2", kLatent},
    Outside{"deepseek_v3", kLatent},
    Outside{"deepseek_v32", kLatent},
    Outside{"glm4_moe_lite", kLatent},
    Outside{"glm_moe_dsa", "experts, multi-head latent attention and sparse attention"},
    Outside{"kimi_k2", kLatent},
    Outside{"kimi_k25", kLatent},
    Outside{"minicpm3", "multi-head latent attention"},
    Outside{"granitemoehybrid", kHybrid},
    Outside{"qwen3_next", kHybrid},
    Outside{"qwen3_5", kHybrid},
    Outside{"lfm2", kHybrid},
    Outside{"jamba", kHybrid},
    Outside{"bamba", kHybrid},
    Outside{"zamba2", kHybrid},
    Outside{"falcon_h1", kHybrid},
    Outside{"nemotron_h", kHybrid},
    Outside{"recurrent_gemma", kHybrid},
    Outside{"mamba", kHybrid},
    Outside{"mamba2", kHybrid},
    Outside{"rwkv", kHybrid},
    Outside{"gemma3n", "embeddings of each layer and shared keys"},
    Outside{"gemma3n_text", "embeddings of each layer and shared keys"},
    Outside{"gemma4", "embeddings of each layer and shared keys"},
    Outside{"phi", kParallel},
    Outside{"gpt_neox", kParallel},
    Outside{"gptj", kParallel},
    Outside{"falcon", kParallel},
    Outside{"cohere", kParallel},
    Outside{"cohere2", kParallel},
    Outside{"stablelm", "norms and rotary of its own"},
    Outside{"gpt2", kLearnt},
    Outside{"gpt_bigcode", kLearnt},
    Outside{"opt", kLearnt},
    Outside{"bloom", "positions as attention biases"},
    Outside{"mpt", "positions as attention biases"},
    Outside{"ministral3", "queries that are scaled by their position"},
    Outside{"qwen2_vl", "rotary of three positions"},
    Outside{"qwen2_5_vl", "rotary of three positions"},
    Outside{"qwen3_vl", "rotary of three positions"},
};

}  // namespace

const Family& find_family(const JsonNode& model_type) {
  const std::string name = model_type.string();
  const auto* const found = std::ranges::find(kFamilies, name, &Family::model_type);
  if (found != kFamilies.end()) return *found;
  const auto* const outside = std::ranges::find(kOutside, name, &Outside::model_type);
  if (outside != kOutside.end()) {
    model_type.fail(
        fmt::format("\"{}\" needs {}, which this engine does not have", name, outside->needs));
  }
  std::vector<std::string_view> names;
  names.reserve(kFamilies.size() + kNested.size());
  for (const Family& family : kFamilies)
    names.push_back(family.model_type);
  for (const auto& [nested, text] : kNested)
    names.push_back(nested);
  model_type.fail_expected(fmt::format("one of {}", fmt::join(names, ", ")));
}

const NestedText* find_nested_text(std::string_view model_type) {
  for (const auto& [type, text] : kNested) {
    if (type == model_type) return &text;
  }
  return nullptr;
}

}  // namespace engine::model
