#include "model/preset.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace engine::model {
namespace {

constexpr Preset small(std::string_view name, std::string_view family) {
  return {.name = name,
          .hidden = 96,
          .layers = 4,
          .query_heads = 4,
          .kv_heads = 2,
          .head_size = 32,
          .intermediate = 192,
          .max_positions = 2048,
          .rotary_factor = 1.0,
          .mtp_window = 0,
          .tied_embeddings = false,
          .qk_norm = false,
          .qkv_bias = false,
          .family = family};
}

constexpr std::array kPresets{
    Preset{.name = "micro",
           .hidden = 64,
           .layers = 4,
           .query_heads = 4,
           .kv_heads = 2,
           .head_size = 16,
           .intermediate = 512,
           .max_positions = 4096,
           .rotary_factor = 0.5,
           .mtp_window = 32,
           .tied_embeddings = true,
           .qk_norm = true,
           .qkv_bias = false},
    Preset{.name = "mini",
           .hidden = 256,
           .layers = 8,
           .query_heads = 4,
           .kv_heads = 2,
           .head_size = 64,
           .intermediate = 1024,
           .max_positions = 16384,
           .rotary_factor = 0.5,
           .mtp_window = 128,
           .tied_embeddings = true,
           .qk_norm = true,
           .qkv_bias = false},
    Preset{.name = "plain",
           .hidden = 96,
           .layers = 3,
           .query_heads = 3,
           .kv_heads = 3,
           .head_size = 32,
           .intermediate = 256,
           .max_positions = 2048,
           .rotary_factor = 1.0,
           .mtp_window = 0,
           .tied_embeddings = false,
           .qk_norm = false,
           .qkv_bias = true},
    small("mistral", R"({"model_type": "mistral", "sliding_window": 100})"),
    small("smollm3", R"({"model_type": "smollm3", "tie_word_embeddings": false,
        "attention_bias": true, "mlp_bias": true, "rope_scaling": {"rope_type": "llama3",
        "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 256}})"),
    small("phi3", R"({"model_type": "phi3", "sliding_window": 70,
        "partial_rotary_factor": 0.75})"),
    small("qwen3", R"({"model_type": "qwen3", "rope_scaling": {"rope_type": "yarn",
        "factor": 4.0, "original_max_position_embeddings": 512}})"),
    small("olmo2", R"({"model_type": "olmo2"})"),
    small("granite", R"({"model_type": "granite", "embedding_multiplier": 12.0,
        "attention_multiplier": 0.2, "residual_multiplier": 0.22, "logits_scaling": 0.25})"),
    small("gemma2", R"({"model_type": "gemma2", "sliding_window": 60,
        "query_pre_attn_scalar": 24, "attn_logit_softcapping": 5.0,
        "final_logit_softcapping": 3.0})"),
    small("gemma3", R"({"model_type": "gemma3_text", "sliding_window": 130,
        "sliding_window_pattern": 3, "query_pre_attn_scalar": 32,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0}})"),
    small("glm4", R"({"model_type": "glm4"})"),
    Preset{.name = "glm4moe-mini",
           .hidden = 256,
           .layers = 5,
           .query_heads = 4,
           .kv_heads = 2,
           .head_size = 64,
           .intermediate = 512,
           .max_positions = 16384,
           .rotary_factor = 0.5,
           .mtp_window = 32,
           .tied_embeddings = true,
           .qk_norm = true,
           .qkv_bias = true,
           .family = R"({"model_type": "glm4_moe", "intermediate_size": 512,
        "attention_bias": true, "use_qk_norm": true, "n_routed_experts": 8,
        "num_experts_per_tok": 2, "n_shared_experts": 1, "moe_intermediate_size": 128,
        "n_group": 2, "topk_group": 1, "routed_scaling_factor": 2.5,
        "first_k_dense_replace": 1, "num_nextn_predict_layers": 1, "mtp_sliding_window": 32,
        "tie_word_embeddings": true, "rope_theta": 10000.0})"},
    Preset{.name = "glm5-mini",
           .hidden = 128,
           .layers = 6,
           .query_heads = 4,
           .kv_heads = 4,
           .head_size = 16,
           .intermediate = 512,
           .max_positions = 16384,
           .rotary_factor = 1.0,
           .mtp_window = 32,
           .tied_embeddings = true,
           .qk_norm = false,
           .qkv_bias = false,
           .family = R"({"model_type": "glm_moe_dsa", "intermediate_size": 512,
        "q_lora_rank": 96, "kv_lora_rank": 64, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16,
        "v_head_dim": 32, "index_n_heads": 2, "index_head_dim": 32, "index_topk": 72,
        "indexer_types": ["full", "full", "full", "shared", "full", "full"],
        "n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1,
        "moe_intermediate_size": 64, "routed_scaling_factor": 2.5,
        "first_k_dense_replace": 2, "num_nextn_predict_layers": 1, "mtp_sliding_window": 32,
        "tie_word_embeddings": true, "rope_theta": 10000.0})"},
    small("qwen3-moe", R"({"model_type": "qwen3_moe", "intermediate_size": 256,
        "num_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 64,
        "norm_topk_prob": false, "decoder_sparse_step": 2})"),
    small("mixtral", R"({"model_type": "mixtral", "intermediate_size": 128,
        "num_local_experts": 6, "num_experts_per_tok": 2, "sliding_window": 100})"),
    small("starcoder2", R"({"model_type": "starcoder2", "sliding_window": 90})"),
};

}  // namespace

std::span<const Preset> presets() {
  return kPresets;
}

const Preset* find_preset(std::string_view name) {
  const auto* const found = std::ranges::find(kPresets, name, &Preset::name);
  return found == kPresets.end() ? nullptr : found;
}

std::string config_json(const Preset& preset, std::size_t vocabulary, Token stop_token) {
  const nlohmann::ordered_json own = {
      {"model_type", "kvpc"},
      {"hidden_size", preset.hidden},
      {"num_hidden_layers", preset.layers},
      {"num_attention_heads", preset.query_heads},
      {"num_key_value_heads", preset.kv_heads},
      {"head_dim", preset.head_size},
      {"intermediate_size", preset.intermediate},
      {"hidden_act", "silu"},
      {"vocab_size", vocabulary},
      {"max_position_embeddings", preset.max_positions},
      {"rms_norm_eps", 1e-5},
      {"rope_theta", 10000.0},
      {"partial_rotary_factor", preset.rotary_factor},
      {"use_qk_norm", preset.qk_norm},
      {"attention_bias", preset.qkv_bias},
      {"tie_word_embeddings", preset.tied_embeddings},
      {"num_nextn_predict_layers", preset.mtp_window > 0 ? 1 : 0},
      {"mtp_sliding_window", preset.mtp_window},
      {"eos_token_id", stop_token},
      {"torch_dtype", "bfloat16"},
  };
  if (preset.family.empty()) return own.dump(2) + "\n";
  auto config = nlohmann::ordered_json::parse(preset.family);
  for (const auto* size : {"hidden_size", "num_hidden_layers", "num_attention_heads",
                           "num_key_value_heads", "head_dim", "intermediate_size", "vocab_size",
                           "max_position_embeddings", "eos_token_id", "torch_dtype"}) {
    config[size] = own[size];
  }
  return config.dump(2) + "\n";
}

}  // namespace engine::model
