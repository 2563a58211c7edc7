// A model folder, loaded and checked:
//
//   config.json              shape and constants            required
//   generation_config.json   further stop tokens            optional
//   model.safetensors        weights, or model.safetensors.index.json and its shards
//   tokenizer.json           text to tokens and back        required; tokenizer_config.json says
//                            whether prompts begin with BOS
//   the chat template        see chat_template.h            optional
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "model/chat_template.h"
#include "model/config.h"
#include "model/stream_decoder.h"
#include "model/tokenizer.h"
#include "model/weights.h"

namespace engine::model {

// Const after construction; any thread may read it. Movable: pointers in weights() stay valid and
// belong to the object moved to. Owns the mapping, so it must outlive every use of the weights.
class Model {
 public:
  // Throws ModelError. Files are checked once, here, and trusted afterwards.
  static Model load(const std::filesystem::path& dir);

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const ModelConfig& config() const { return config_; }
  const Weights& weights() const { return weights_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  // Null if the folder has none.
  const ChatTemplate* chat_template() const { return chat_.get(); }
  // Bytes of all tensors as bf16: about what a backend copies.
  std::size_t weight_bytes() const;
  // Gives back the memory of weights that a backend has copied: `values` is one of its matrices'
  // parts. REQUIRES: no other network is made from this model, for values that were converted are
  // gone. The embedding stays.
  void release(std::span<const std::byte> values) const;
  // For what the model says: the template's reply tokens are shown, other special tokens are not.
  // This must outlive it.
  StreamDecoder reply_decoder() const { return StreamDecoder(tokenizer_, reply_tokens_); }

 private:
  Model(ModelConfig config, std::unique_ptr<const TensorStore> store, Tokenizer tokenizer,
        std::unique_ptr<const ChatTemplate> chat, std::vector<Token> reply_tokens);

  ModelConfig config_;
  std::unique_ptr<const TensorStore> store_;
  Weights weights_;
  Tokenizer tokenizer_;
  std::unique_ptr<const ChatTemplate> chat_;
  std::vector<Token> reply_tokens_;
};

}  // namespace engine::model
