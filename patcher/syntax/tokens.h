#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/syntax/language.h"

namespace patcher {

// The tokens that anchors are compared by. Target files and patches go through the same function,
// so that equal code gives equal tokens whatever surrounds it; the syntax tree (syntax_tree.h) says
// where scopes begin and what is damaged, and is not asked for tokens, because a fragment such as
// `if (x) {` has no tree of its own.
//
// Rules: white space separates and is nothing else; a comment is a token of its own kind, which
// matching skips; string, character and raw string literals are one token each; `>` is always a
// token by itself, so that `A<B<C>>` and `A<B<C> >` are equal; a backslash-newline inside a word
// belongs to the word. In a file without a grammar every non-blank line is one token.
struct Token {
  uint32_t begin = 0;  // byte range in the text
  uint32_t end = 0;
  bool comment = false;
  bool directive = false;      // inside a preprocessor line: never equal to the same text in code
  bool directive_end = false;  // the last one of its preprocessor line

  std::string_view text(std::string_view source) const { return source.substr(begin, end - begin); }
};

// All tokens of `text` in order, comments included. Never fails: an unterminated literal ends at
// its line's end, an unterminated comment at the text's.
std::vector<Token> tokenize(std::string_view text, Language language);

// Whether two tokens are equal as anchors see it: same text, same side of the preprocessor.
bool same_token(const Token& a, std::string_view a_source, const Token& b,
                std::string_view b_source);

// Collapses every run of white space to one blank and trims; how comments and lines are compared.
std::string squeeze(std::string_view text);
// The same for a message: at most 200 bytes of it, and `...` where there are more.
std::string excerpt(std::string_view text);

}  // namespace patcher
