// The "pre_tokenizer" of tokenizer.json: how a text is cut into the pieces that the vocabulary's
// tokens are found in. Internal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/json_file.h"
#include "model/splitter.h"

namespace engine::model {

// A text and its pieces, in order. Bytes that are no UTF-8 are pieces of their own, a maximal run
// one piece.
struct CutText {
  struct Piece {
    Range range;  // in `text`
    bool characters;
  };

  CutText(std::string content, bool is_start);

  std::string_view piece(std::size_t index) const {
    const Range range = pieces[index].range;
    return std::string_view(text).substr(range.begin, range.end - range.begin);
  }

  std::string text;
  std::vector<Piece> pieces;
  bool at_start;  // whether nothing stands before it
};

// Steps by name: ByteLevel, Metaspace, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, and
// Sequence. Const after construction; any thread may call it.
class PreTokenizer {
 public:
  // Throws ModelError for a step that is not one of these, and for one after ByteLevel.
  static PreTokenizer read(const std::optional<JsonNode>& node);

  // Whether the vocabulary's tokens are bytes, not characters.
  bool byte_level() const { return byte_level_; }

  // Throws ModelError as Splitter does.
  void cut(CutText& text) const;

 private:
  // Makes blanks `mark`, and sees to it that a piece begins with one.
  struct Mark {
    std::string mark;
    enum class Where { kNowhere, kAtStart, kEverywhere } where;
  };

  void add(const JsonNode& node);
  void add_byte_level(const JsonNode& node);
  void add_metaspace(const JsonNode& node);
  static void run(const Splitter& splitter, CutText& text);
  static void run(const Mark& mark, CutText& text);

  std::vector<std::variant<Splitter, Mark>> steps_;
  bool byte_level_ = false;
};

}  // namespace engine::model
