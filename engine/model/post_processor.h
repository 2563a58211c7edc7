// The "post_processor" of tokenizer.json: tokens before and behind a whole prompt, such as those
// that begin and end a sequence. Internal.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/json_file.h"
#include "model/token.h"

namespace engine::model {

// Steps by name: TemplateProcessing, ByteLevel (which changes no token), and Sequence.
class PostProcessor {
 public:
  // Throws ModelError for a step that is not one of these.
  static PostProcessor read(const std::optional<JsonNode>& node);

  void set_prefix(std::vector<Token> tokens) { prefix_ = std::move(tokens); }
  void set_suffix(std::vector<Token> tokens) { suffix_ = std::move(tokens); }

  std::vector<Token> apply(std::span<const Token> tokens) const;

  // The largest id that it adds; -1: none.
  Token largest() const;

 private:
  void add(const JsonNode& node);
  void add_template(const JsonNode& node);

  std::vector<Token> prefix_, suffix_;
};

}  // namespace engine::model
