// The "decoder" of tokenizer.json: the text that tokens stand for. Internal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/json_file.h"
#include "model/token.h"

namespace engine::model {

// Steps by name: ByteLevel, ByteFallback, Replace, Metaspace, Fuse, Strip at the start, and
// Sequence. A step that looks at each token alone is taken when this is made; one that looks at the
// text's beginning is taken as the text is decoded. No step looks ahead, so that what the first
// tokens stand for does not depend on those that follow.
// Const after construction; any thread may call it.
class TokenDecoder {
 public:
  struct Texts {
    std::vector<std::string> vocabulary;  // by id; empty where an id has none
    std::vector<bool> added;              // by id: whether the text is an added token's content
  };

  // Throws ModelError for a step that is not one of these, and for an order of steps that would
  // look ahead.
  TokenDecoder(const JsonNode& node, Texts texts);

  // How far a text has come.
  struct Progress {
    bool first = true;         // no token yet
    bool beginning = true;     // nothing that stays
    std::size_t stripped = 0;  // characters taken off
  };

  // The bytes that `token` adds to a text. An id without a token adds none.
  std::string next(Token token, Progress& progress) const;

  // The token's bytes amid a text. Valid while this lives.
  std::string_view bytes(Token token) const;

  // One more than the largest id.
  std::size_t size() const { return bytes_.size(); }

 private:
  struct Order;
  void add(const JsonNode& node, Order& order, const std::vector<bool>& added);
  void add_replace(const JsonNode& node, const Order& order);
  void add_metaspace(const JsonNode& node);
  void add_strip(const JsonNode& node, const Order& order);

  std::vector<std::string> bytes_;
  std::vector<std::string> first_bytes_;  // of the first token of a text; empty: no difference
  std::string strip_;                     // the character that a text may begin with, and loses
  std::size_t most_stripped_ = 0;
};

}  // namespace engine::model
