// The "model" of tokenizer.json, type BPE: the tokens of a piece. Internal.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/bpe.h"
#include "model/json_file.h"
#include "model/tokenizer_file.h"

namespace engine::model {

// A piece is taken apart into bytes or characters, whose tokens are merged. A character without a
// token becomes its bytes' tokens if the model has them ("byte_fallback"), else the unknown token,
// else nothing.
// Const after construction; any thread may call it.
class BpeModel {
 public:
  struct Scratch {
    std::vector<Token> piece;
    Bpe::Scratch merging;
  };

  // `byte_level`: pieces are taken apart into bytes. No special token comes of text, whatever the
  // merges say. Throws ModelError.
  BpeModel(const JsonNode& node, const TokenizerFile& file, bool byte_level);

  // Appends the piece's tokens. O(n log n).
  void encode(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const;

  // Whether every byte string can be encoded without loss.
  bool takes_any_bytes() const;

 private:
  void add_pieces(const JsonNode& vocabulary, const TokenizerFile& file);
  void add_merges(const JsonNode& list, const TokenizerFile& file);
  std::optional<Token> find(std::string_view piece) const;
  void take_apart(std::string_view piece, std::vector<Token>& out) const;
  bool fall_back(std::string_view character, std::vector<Token>& out) const;

  bool byte_level_;
  bool ignore_merges_ = false, fuse_unknown_ = false;
  std::optional<Token> unknown_;
  std::vector<std::string> texts_;  // by id; empty: comes of no text
  std::unordered_map<std::string_view, Token> pieces_;
  std::array<std::optional<Token>, 256> byte_pieces_;  // of pieces of one byte
  std::array<std::optional<Token>, 256> fallback_{};   // "<0x00>" to "<0xFF>"
  Bpe bpe_;
};

}  // namespace engine::model
