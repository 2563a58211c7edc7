#include "model/family_readers.h"

#include <fmt/format.h>

#include <cmath>

#include "model/expert_config.h"
#include "model/latent_config.h"
#include "model/rotary_config.h"
#include "numerics/attention.h"

namespace engine::model {
namespace {

using numerics::Activation;
using numerics::NormKind;

constexpr std::size_t kMaxWindow = 1U << 24U;

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
  return root.flag("use_sliding_window") ? window_or_whole(root) : LayerKind::kWholeContext;
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
  config.qkv_bias = config.output_bias = root.flag("attention_bias");
}

void read_qwen_windows(ModelConfig& config, const JsonNode& root) {
  const std::size_t window = window_if_used(root);
  const std::size_t first = root.at("max_window_layers").integer(0, kMaxWindow);
  const bool slides = window != LayerKind::kWholeContext;
  read_windows(config, root, window, [&](std::size_t i) { return slides && i >= first; });
}

}  // namespace

void read_llama(ModelConfig& config, const JsonNode& root) {
  read_attention_bias(config, root);
  config.mlp_bias = root.flag("mlp_bias");
}

void read_mistral(ModelConfig& config, const JsonNode& root) {
  read_window_of_all(config, root);
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
  if (root.flag("use_bidirectional_attention")) {
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
  config.qkv_bias = root.flag("attention_bias");
  for (numerics::RotarySpec& spec : config.rotaries)
    spec.interleaved = true;
}

void read_mixtral(ModelConfig& config, const JsonNode& root) {
  read_window_of_all(config, root);
  read_mixtral_experts(config, root);
}

void read_qwen3_moe(ModelConfig& config, const JsonNode& root) {
  config.qk_norm = QkNorm::kHead;
  read_attention_bias(config, root);
  const std::size_t window = window_if_used(root);
  for (LayerKind& kind : config.layer_kinds)
    kind.window = window;
  read_qwen_experts(config, root);
}

void read_glm4_moe(ModelConfig& config, const JsonNode& root) {
  config.qkv_bias = root.flag("attention_bias");
  config.qk_norm = root.flag("use_qk_norm") ? QkNorm::kHead : QkNorm::kNone;
  read_deepseek_experts(config, root);
}

void read_deepseek_v3(ModelConfig& config, const JsonNode& root) {
  read_latent_attention(config, root);
  read_deepseek_experts(config, root);
}

void read_deepseek_v32(ModelConfig& config, const JsonNode& root) {
  read_deepseek_v3(config, root);
  read_indexer(config, root);
  // transformers does not read this key of such a model, and rotates pairs that lie side by side.
  if (!config.rotaries[0].interleaved) root.at("rope_interleave").fail_expected("true");
}

void read_glm_moe_dsa(ModelConfig& config, const JsonNode& root) {
  read_deepseek_v32(config, root);
  read_indexer_layers(config, root);
  if (!root.flag("indexer_rope_interleave", true)) {
    root.at("indexer_rope_interleave").fail_expected("true");
  }
}

void read_starcoder2(ModelConfig& config, const JsonNode& root) {
  config.norm = NormKind::kLayer;
  if (config.activation == Activation::kGeluGated) config.activation = Activation::kGelu;
  config.qkv_bias = config.output_bias = config.mlp_bias = root.flag("use_bias");
  read_window_of_all(config, root);
}

}  // namespace engine::model
