// The model's weights by name, as pointers into the mapped files.
//
// This is the only place where shapes and dtypes are checked: a Weights that exists has every
// tensor that its config calls for, as bf16 of the shape written here (convert.h says how other
// dtypes become it), and no other tensor.
//
// Letters: H hidden, Q query heads, G KV heads, D head size, I intermediate, V vocabulary.
// Layout: row-major [outputs, inputs], last index contiguous, as Hugging Face writes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/convert.h"
#include "numerics/bf16.h"

namespace engine::model {

class TensorStore;
using numerics::bf16;

struct NormWeights {
  const bf16* weight = nullptr;  // [H], or null: no norm here
  const bf16* bias = nullptr;    // [H], or null: not a LayerNorm
};

struct ExpertWeights {
  const bf16* gate = nullptr;  // [I, H]
  const bf16* up = nullptr;    // [I, H]
  const bf16* down = nullptr;  // [H, I]
};

// Letters as in LatentConfig.
struct LatentWeights {
  const bf16* query_down = nullptr;  // [L, H], or null: no low rank
  const bf16* query_norm = nullptr;  // [L]
  const bf16* queries = nullptr;     // [Q (W + B), L or H]
  const bf16* key_down = nullptr;    // [C + B, H]
  const bf16* key_norm = nullptr;    // [C]
  const bf16* expand = nullptr;      // [Q (W + U), C]: of each head a key's W, then a value's U
  // The indexer; null where the layer has none.
  const bf16* index_queries = nullptr;  // [J F, L]
  const bf16* index_key = nullptr;      // [F, H]
  const bf16* index_norm = nullptr;     // [F]
  const bf16* index_bias = nullptr;     // [F]
  const bf16* index_weights = nullptr;  // [J, H]
};

// A bias is null where the config has none. With experts, `gate`, `up` and `down` are the shared
// expert's, or null.
struct LayerWeights {
  NormWeights attention_norm, attention_norm_after;
  std::optional<LatentWeights> latent;  // in place of q, k and v
  const bf16* q = nullptr;              // [Q D, H]
  const bf16* k = nullptr;              // [G D, H]
  const bf16* v = nullptr;              // [G D, H]
  const bf16* o = nullptr;              // [H, Q D] or [H, Q U]
  const bf16* q_bias = nullptr;         // [Q D]
  const bf16* k_bias = nullptr;         // [G D]
  const bf16* v_bias = nullptr;         // [G D]
  const bf16* o_bias = nullptr;         // [H]
  const bf16* q_norm = nullptr;         // [D] or [Q D], or null: see QkNorm
  const bf16* k_norm = nullptr;         // [D] or [G D], or null
  NormWeights mlp_norm, mlp_norm_after;
  const bf16* gate = nullptr;          // [I, H], or null: not gated
  const bf16* up = nullptr;            // [I, H]
  const bf16* down = nullptr;          // [H, I]
  const bf16* gate_bias = nullptr;     // [I]
  const bf16* up_bias = nullptr;       // [I]
  const bf16* down_bias = nullptr;     // [H]
  const bf16* router = nullptr;        // [E, H], or null: no experts
  const float* router_bias = nullptr;  // [E], or null; as float32 because it decides near ties
  std::vector<ExpertWeights> experts;  // [E]
};

// Row p: layer(eh_proj * concat(enorm(embedding[token p+1]), hnorm(hidden p))), head_norm, then
// the output head, predicts token p+2. `hidden p` is the last decoder layer's output,
// before final_norm. Stored as model.layers.{layers}.
struct MtpWeights {
  LayerWeights layer;
  NormWeights enorm, hnorm;
  const bf16* eh_proj = nullptr;  // [H, 2 H]
  NormWeights head_norm;
  // The model's, unless the file has others for this layer.
  const bf16* embedding = nullptr;  // [V, H]
  const bf16* lm_head = nullptr;    // [V, H]
};

struct Weights {
  const bf16* embedding = nullptr;  // [V, H]
  NormWeights final_norm;
  const bf16* lm_head = nullptr;  // [V, H]; equals `embedding` if tied
  std::vector<LayerWeights> layers;
  std::optional<MtpWeights> mtp;

  // What the pointers point to where the file holds another dtype than BF16.
  ConvertedValues converted;
  std::vector<std::vector<float>> floats;  // what is wanted as float32

  // 16 hex digits from the headers and samples of the data: tells models apart in reports. Not a
  // proof of integrity.
  std::string id;

  // The pointers are `store`'s, or `converted`'s; both must outlive them. Throws ModelError naming
  // the tensor, and the dtype and shape expected and found; or listing the tensors that the config
  // does not call for.
  static Weights bind(const ModelConfig& config, const TensorStore& store);

  // Whether the store has the multi-token-prediction layer that `config` speaks of: transformers
  // leaves it out when it saves a model.
  static bool has_drafter(const ModelConfig& config, const TensorStore& store);
};

}  // namespace engine::model
