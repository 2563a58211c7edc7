// The "added_tokens" of tokenizer.json: texts that are found before anything else. Internal.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/normalizer.h"
#include "model/prefix_table.h"
#include "model/token.h"
#include "model/tokenizer.h"

namespace engine::model {

struct AddedToken {
  Token token;
  std::string content;
  bool special = false;
  bool left_strip = false;   // swallows the white space before it
  bool right_strip = false;  // and behind it
  bool single_word = false;  // is not found in or beside a word
  bool normalized = true;    // is found in normalised text, in its own normal form

  // See SpecialText.
  bool is_mark() const;
};

// Whether a part of a text touches one of `ranges`, which are in order; those that end before it
// are dropped, so that the next part can be asked for.
bool touches(Range part, std::span<const TextRange>& ranges);

// Const after construction; any thread may call it.
class AddedTokens {
 public:
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer);

  // A stretch of a text; without a token it is ordinary, and not empty.
  struct Part {
    Range range;
    std::optional<Token> token;
  };

  // Cuts the text at those tokens that are found as written, or at those found in normalised text.
  // The longest that begins leftmost is found; nothing is looked for inside of it even if it does
  // not count, for its neighbours or since it is a mark that touches a range of `literal`.
  enum class Which { kAsWritten, kNormalized };
  std::vector<Part> split(std::string_view text, Which which,
                          std::span<const TextRange> literal) const;

  // Null: not an added token.
  const AddedToken* find(Token token) const;

  const std::vector<AddedToken>& tokens() const { return tokens_; }

  // The text that tokens()[index] is found as.
  const std::string& text(std::size_t index) const { return texts_[index]; }

 private:
  PrefixTable table(Which which) const;
  std::size_t longest(std::string_view text, Which which, const AddedToken*& found) const;

  std::vector<AddedToken> tokens_;
  std::vector<std::string> texts_;  // what is looked for, by index
  std::vector<std::size_t> by_token_;
  PrefixTable as_written_, normalized_;
};

}  // namespace engine::model
