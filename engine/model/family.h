// What the model types have in common and what sets them apart. Internal; README.md says how to add
// one.
#pragma once

#include <string_view>

#include "model/config.h"
#include "model/json_file.h"

namespace engine::model {

// Names of a decoder layer's tensors, without "model.layers.N." before and ".weight" or ".bias"
// after them. An empty name: the family has no such tensor.
struct LayerNames {
  std::string_view attention_norm = "input_layernorm";
  std::string_view attention_norm_after = "";  // of what attention adds
  std::string_view mlp_norm = "post_attention_layernorm";
  std::string_view mlp_norm_after = "";
  std::string_view qkv = "";  // one matrix of q, k and v; the three names are not used then
  std::string_view q = "self_attn.q_proj";
  std::string_view k = "self_attn.k_proj";
  std::string_view v = "self_attn.v_proj";
  std::string_view o = "self_attn.o_proj";
  std::string_view q_norm = "self_attn.q_norm";
  std::string_view k_norm = "self_attn.k_norm";
  std::string_view gate_up = "";  // one matrix of gate and up, or the only one
  std::string_view gate = "mlp.gate_proj";
  std::string_view up = "mlp.up_proj";
  std::string_view down = "mlp.down_proj";
  // Of layers with experts; "experts" is followed by ".N." and the expert's own names.
  std::string_view router = "mlp.gate";
  std::string_view experts = "mlp.experts";
  std::string_view expert_gate = "gate_proj";
  std::string_view expert_up = "up_proj";
  std::string_view expert_down = "down_proj";
  std::string_view shared = "mlp.shared_experts";  // followed by "." and gate_proj and so on
};

struct Family {
  std::string_view model_type;
  // JSON: the value of each key that config.json leaves out. What is derived from other keys
  // (head_dim, num_key_value_heads) is not written.
  std::string_view defaults;
  LayerNames names;
  // Everything beyond sizes, heads, rotary tables, stop tokens: what the type's code does.
  void (*read)(ModelConfig& config, const JsonNode& root);
  bool latent = false;  // attention, whose tensors have one set of names
};

// The row of `model_type`. Throws ModelError for a type that is not in the table, with what it
// would need where that is known.
const Family& find_family(const JsonNode& model_type);

// If the configuration is that of a larger model: the key of the text model's part and the part's
// type where it names none.
struct NestedText {
  std::string_view key;
  std::string_view model_type;
};
const NestedText* find_nested_text(std::string_view model_type);

}  // namespace engine::model
