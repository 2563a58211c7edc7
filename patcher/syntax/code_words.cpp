#include "patcher/syntax/code_words.h"

#include <algorithm>
#include <array>

namespace patcher {
namespace {

constexpr size_t kFewestLetters = 3;
constexpr size_t kLongestCall = 512;  // tokens

constexpr std::array<std::string_view, 32> kDeclaring = {"__device__", "__forceinline__",
                                                         "__global__", "__host__",
                                                         "__shared__", "auto",
                                                         "bool",       "char",
                                                         "class",      "constexpr",
                                                         "double",     "enum",
                                                         "explicit",   "extern",
                                                         "float",      "friend",
                                                         "inline",     "int",
                                                         "long",       "mutable",
                                                         "short",      "signed",
                                                         "static",     "struct",
                                                         "template",   "thread_local",
                                                         "typedef",    "typename",
                                                         "union",      "unsigned",
                                                         "virtual",    "void"};
constexpr std::array<std::string_view, 33> kOtherKeywords = {
    "and",       "break",     "case",     "catch",  "const",    "continue", "default",
    "delete",    "do",        "else",     "final",  "for",      "goto",     "if",
    "namespace", "new",       "noexcept", "not",    "operator", "or",       "override",
    "private",   "protected", "public",   "return", "sizeof",   "switch",   "throw",
    "try",       "using",     "volatile", "while",  "xor"};

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

// +1 for a bracket that opens, -1 for one that closes.
int bracket(std::string_view t) {
  if (t == "(" || t == "{" || t == "[") return 1;
  return t == ")" || t == "}" || t == "]" ? -1 : 0;
}

}  // namespace

bool is_macro_name(std::string_view word) {
  if (word.size() < kFewestLetters) return false;
  size_t letters = 0;
  for (const char c : word) {
    if (!is_upper(c) && c != '_' && (c < '0' || c > '9')) return false;
    letters += is_upper(c) ? 1 : 0;
  }
  return letters >= 2 && (word.front() < '0' || word.front() > '9');
}

bool is_word(std::string_view t) {
  const char c = t.empty() ? ' ' : t.front();
  const bool letter = is_upper(c) || (c >= 'a' && c <= 'z') || c == '_' || c == '$';
  return letter && t.back() != '"' && t.back() != '\'';
}

bool is_declaring(std::string_view word) {
  return one_of(kDeclaring, word);
}

bool is_name(std::string_view t) {
  return is_word(t) && !one_of(kOtherKeywords, t) && !is_declaring(t);
}

bool is_string(std::string_view t) {
  return t.size() >= 2 && t.back() == '"';
}

CodeWords::CodeWords(std::string_view text, const std::vector<Token>& tokens)
    : text_(text), tokens_(tokens) {
  code_.reserve(tokens.size());
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].comment && !tokens[i].directive) code_.push_back(i);
  }
}

bool CodeWords::after_directive(size_t i) const {
  if (i == 0 || i >= code_.size()) return true;
  for (uint32_t t = code_[i] - 1; t > code_[i - 1]; --t) {
    if (tokens_[t].directive) return true;
  }
  return false;
}

bool CodeWords::on_a_new_line(size_t i) const {
  if (i == 0 || i >= code_.size()) return true;
  const uint32_t from = token(i - 1).end;
  return text_.substr(from, token(i).begin - from).find('\n') != text_.npos;
}

size_t CodeWords::close(size_t i) const {
  const std::string_view closes = word(i) == "(" ? ")" : word(i) == "{" ? "}" : "]";
  int depth = 0;
  for (size_t k = i; k < std::min(code_.size(), i + kLongestCall); ++k) {
    depth += bracket(word(k));
    if (depth == 0) return word(k) == closes ? k : code_.size();
  }
  return code_.size();
}

size_t CodeWords::open(size_t i) const {
  int depth = 0;
  for (size_t n = 0; n <= i && n < kLongestCall; ++n) {
    depth += bracket(word(i - n));
    if (depth == 0) return i - n;
  }
  return code_.size();
}

}  // namespace patcher
