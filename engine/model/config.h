// A model's shape and constants, read from Hugging Face's config.json.
//
// Every number is checked here, so that products of these sizes fit std::size_t and the kernels'
// REQUIRES hold. What this engine does not compute (other activations, scaled rotary embeddings,
// sliding windows, quantised weights, other model types) is refused, never approximated.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/token.h"

namespace engine::model {

// Decoder-only: embedding; `layers` of (RMSNorm, attention, RMSNorm, SwiGLU); RMSNorm; output head.
struct ModelConfig {
  // One of "llama", "mistral", "qwen2", "qwen3", or "kvpc": this project's own, in which every
  // option is written out and none has a default.
  std::string model_type;

  std::size_t hidden = 0;         // H, a multiple of 16
  std::size_t layers = 0;         // without the multi-token-prediction layer
  std::size_t query_heads = 0;    // Q
  std::size_t kv_heads = 0;       // G, divides Q
  std::size_t head_size = 0;      // D, a multiple of 16; Q * D may differ from H
  std::size_t intermediate = 0;   // I, a multiple of 16
  std::size_t vocabulary = 0;     // V >= 2; may exceed the tokenizer's size (padding)
  std::size_t max_positions = 0;  // the longest context that the model was made for
  std::size_t rotary_size = 0;    // leading dimensions of a head that are rotated; even, <= D

  float norm_epsilon = 0;  // of every RMSNorm
  double rope_theta = 0;   // angle of pair i at position p: p * rope_theta^(-2i / rotary_size)

  bool qk_norm = false;          // RMSNorm on each head of q and k, before rotary
  bool qkv_bias = false;         // biases on q, k and v; no other projection has one
  bool tied_embeddings = false;  // the output head is the embedding table

  bool mtp = false;            // one multi-token-prediction layer follows the decoder's
  std::size_t mtp_window = 0;  // positions that it attends to, its own included; 0 without it

  std::vector<Token> stop_tokens;  // sorted; each < V; may be empty

  // Reads config.json and, if it is there, generation_config.json (further stop tokens).
  // Throws ModelError.
  static ModelConfig load(const std::filesystem::path& dir);

  // `file` names the text in errors.
  static ModelConfig parse(std::string_view json, const std::filesystem::path& file);
};

}  // namespace engine::model
