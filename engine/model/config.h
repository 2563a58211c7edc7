// A model's shape and constants, read from Hugging Face's config.json.
//
// Every number is checked here, so that products of these sizes fit std::size_t and the kernels'
// REQUIRES hold. A key that config.json leaves out means what Hugging Face's configuration class
// for the model type means by it (families.cpp). What this engine does not compute is refused by
// name, never approximated.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/token.h"
#include "numerics/activation.h"
#include "numerics/norm.h"
#include "numerics/rotary_scaling.h"
#include "numerics/router.h"

namespace engine::model {

struct LayerNames;

// What sets one decoder layer apart from the others.
struct LayerKind {
  static constexpr std::size_t kWholeContext = static_cast<std::size_t>(-1);
  static constexpr std::size_t kNoRotary = static_cast<std::size_t>(-1);

  std::size_t window = kWholeContext;  // positions that a row attends to, its own included
  std::size_t rotary = 0;              // index into ModelConfig::rotaries, or kNoRotary
  bool experts = false;                // in place of the dense MLP
  bool indexer = false;  // chooses positions itself; sparse layers without one take the last choice
};

// Latent attention: of all layers or of none. Every size is a multiple of 16.
struct LatentConfig {
  std::size_t rank = 0;       // L, of the queries; 0: they are projected at once
  std::size_t size = 0;       // C, of what is kept of a position for all heads; 0: no such layers
  std::size_t rotated = 0;    // B, of a query and of the one rotated key
  std::size_t unrotated = 0;  // W, of a query
  std::size_t values = 0;     // U, of a head's output
  // Sparse attention.
  std::size_t index_heads = 0;     // J
  std::size_t index_size = 0;      // F
  std::size_t choice = 0;          // S, the positions that a row attends to at most; 0: all
  bool index_interleaved = false;  // rotary pairs of the indexer
};

// The experts of the layers that have them, and of the drafter's.
struct ExpertsConfig {
  numerics::RouterRule router;          // no experts: no layer has any
  bool bias = false;                    // on the scores, for the choice alone
  std::size_t intermediate = 0;         // of each expert, a multiple of 16
  std::size_t shared_intermediate = 0;  // of the one that every row goes to as well; 0: none
};

// On queries and keys, before rotary.
enum class QkNorm {
  kNone,
  kHead,   // each head by itself, weights [D]
  kWidth,  // all heads together, weights [Q D] and [G D]
};

// Decoder-only: embedding; `layers` of attention and MLP, each added to the residual stream with a
// norm before it, after it, or both; norm; output head.
struct ModelConfig {
  // A row of families.cpp; "kvpc" is this project's own, in which every option is written out.
  std::string model_type;
  const LayerNames* names = nullptr;  // of the layers' tensors, which also say where norms stand
  bool nested = false;  // the text part of a larger model, whose other tensors are skipped

  std::size_t hidden = 0;         // H, a multiple of 16
  std::size_t layers = 0;         // without the multi-token-prediction layer
  std::size_t query_heads = 0;    // Q
  std::size_t kv_heads = 0;       // G, divides Q
  std::size_t head_size = 0;      // D, a multiple of 16; Q * D may differ from H; latent: B
  std::size_t intermediate = 0;   // I, a multiple of 16
  std::size_t vocabulary = 0;     // V >= 2; may exceed the tokenizer's size (padding)
  std::size_t max_positions = 0;  // the longest context that the model was made for

  std::vector<LayerKind> layer_kinds;          // [layers]
  std::vector<numerics::RotarySpec> rotaries;  // the drafter's layer takes the first

  numerics::NormKind norm = numerics::NormKind::kRms;  // of every norm
  float norm_epsilon = 0;
  QkNorm qk_norm = QkNorm::kNone;
  bool qkv_bias = false, output_bias = false, mlp_bias = false;
  numerics::Activation activation = numerics::Activation::kSiluGated;
  bool tied_embeddings = false;  // the output head is the embedding table

  float embedding_scale = 1;  // of the embedding's rows
  float residual_scale = 1;   // of what attention and MLP add
  float score_scale = 0;      // of attention scores, times log2(e): numerics::score_scale
  float score_cap = 0;        // scores s become cap * tanh(s / cap); 0: they stay
  float logit_divisor = 1;
  float logit_cap = 0;  // as score_cap, after the division

  bool mtp = false;            // one multi-token-prediction layer follows the decoder's
  std::size_t mtp_window = 0;  // positions that it attends to, its own included; 0 without it

  LatentConfig latent;
  ExpertsConfig experts;

  std::vector<Token> stop_tokens;  // sorted; each < V; may be empty

  // The MLP's first projection: gate and up, or one matrix.
  bool gated() const { return activation != numerics::Activation::kGelu; }
  bool has_experts() const { return experts.router.experts > 0; }
  bool has_latent() const { return latent.size > 0; }
  // I of a layer's MLP; with experts, of the shared one, 0 without it.
  std::size_t mlp_width(bool with_experts) const {
    return with_experts ? experts.shared_intermediate : intermediate;
  }
  // What attention gives the output projection: Q D or Q U.
  std::size_t attended_width() const {
    return query_heads * (has_latent() ? latent.values : head_size);
  }
  std::size_t query_width() const { return query_heads * head_size; }  // Q D
  std::size_t kv_width() const { return kv_heads * head_size; }        // G D

  // Reads config.json and, if it is there, generation_config.json (further stop tokens).
  // Throws ModelError.
  static ModelConfig load(const std::filesystem::path& dir);

  // `file` names the text in errors.
  static ModelConfig parse(std::string_view json, const std::filesystem::path& file);
};

}  // namespace engine::model
