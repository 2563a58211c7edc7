#include "model/preset.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace engine::model {
namespace {

constexpr std::array<Preset, 3> kPresets{{
    {.name = "micro",
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
    {.name = "mini",
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
    {.name = "plain",
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
}};

}  // namespace

std::span<const Preset> presets() {
  return kPresets;
}

const Preset* find_preset(std::string_view name) {
  const auto* const found = std::ranges::find(kPresets, name, &Preset::name);
  return found == kPresets.end() ? nullptr : found;
}

std::string config_json(const Preset& preset, std::size_t vocabulary, Token stop_token) {
  const nlohmann::ordered_json config = {
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
  return config.dump(2) + "\n";
}

}  // namespace engine::model
