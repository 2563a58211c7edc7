// The tokens that tokenizer.json lists: its vocabulary and its added tokens. Internal.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/added_tokens.h"
#include "model/json_file.h"
#include "model/token.h"

namespace engine::model {

struct TokenizerFile {
  std::unordered_map<std::string, Token> ids;  // of the vocabulary, by the text in the file
  std::vector<AddedToken> added;

  // `root` is the whole file. Throws ModelError.
  static TokenizerFile read(const JsonNode& root);

  // One more than the largest id.
  std::size_t size() const { return special_.size(); }

  bool is_special(Token token) const { return special_[static_cast<std::size_t>(token)]; }

  // Throws ModelError, at `place`, for a text that is not in the vocabulary.
  Token id_of(const std::string& text, const JsonNode& place) const;

 private:
  std::vector<bool> special_;  // by id
};

}  // namespace engine::model
