// The shapes that init_model knows, and the config.json of each. Internal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "model/token.h"

namespace engine::model {

struct Preset {
  std::string_view name;
  std::size_t hidden, layers, query_heads, kv_heads, head_size, intermediate, max_positions;
  double rotary_factor;    // of a head that is rotated
  std::size_t mtp_window;  // 0: no multi-token-prediction layer
  bool tied_embeddings, qk_norm, qkv_bias;
  // JSON: the model type of another family and what its config.json has beside the sizes above; the
  // options above are then its own business. Empty: "kvpc".
  std::string_view family = "";
};

// In the order of init_model.h's table.
std::span<const Preset> presets();

// Null if there is none of that name.
const Preset* find_preset(std::string_view name);

// Text of a config.json.
std::string config_json(const Preset& preset, std::size_t vocabulary, Token stop_token);

}  // namespace engine::model
