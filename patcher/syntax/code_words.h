#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "patcher/syntax/tokens.h"

namespace patcher {

template <size_t N>
bool one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A macro by its name, as people write them: capitals, digits and underscores, three at least since
// shorter ones are names of template parameters.
bool is_macro_name(std::string_view word);
bool is_word(std::string_view token);
// Whether a word can only begin a declaration or go on with one, so that what is before it is no
// type: `int`, `struct`, `static`, `template`, ...
bool is_declaring(std::string_view word);
// A word that is no keyword.
bool is_name(std::string_view token);
bool is_string(std::string_view token);

// The tokens of a text outside of comments and preprocessor lines, by their number among these.
// Borrows what it is made of.
class CodeWords {
 public:
  CodeWords(std::string_view text, const std::vector<Token>& tokens);

  size_t size() const { return code_.size(); }
  uint32_t index(size_t i) const { return code_[i]; }  // into the tokens
  const Token& token(size_t i) const { return tokens_[code_[i]]; }
  // Empty before the first and behind the last.
  std::string_view word(size_t i) const {
    return i < code_.size() ? tokens_[code_[i]].text(text_) : std::string_view();
  }
  std::string_view before(size_t i) const { return i > 0 ? word(i - 1) : std::string_view(); }
  // Whether a preprocessor line, or the text's begin or end, stands before a token.
  bool after_directive(size_t i) const;
  bool on_a_new_line(size_t i) const;
  // The bracket that closes the one at i, or opens it, within a few hundred tokens; else size().
  size_t close(size_t i) const;
  size_t open(size_t i) const;

 private:
  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::vector<uint32_t> code_;
};

}  // namespace patcher
