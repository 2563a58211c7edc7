// macro_blanks: the macros that a grammar cannot read, by the tokens around them.
#include <algorithm>
#include <array>

#include "patcher/reading.h"

namespace patcher {
namespace {

constexpr size_t kFewestLetters = 3;      // shorter ones are names of template parameters
constexpr size_t kLongestCall = 512;      // tokens
constexpr size_t kMostCalls = 4;          // one behind the other
constexpr size_t kLongestArguments = 32;  // tokens of a template's arguments

// What can only begin a declaration or go on with one, so that what is before it is no type.
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
constexpr std::array<std::string_view, 33> kNoNames = {
    "and",       "break",     "case",     "catch",  "const",    "continue", "default",
    "delete",    "do",        "else",     "final",  "for",      "goto",     "if",
    "namespace", "new",       "noexcept", "not",    "operator", "or",       "override",
    "private",   "protected", "public",   "return", "sizeof",   "switch",   "throw",
    "try",       "using",     "volatile", "while",  "xor"};
constexpr std::array<std::string_view, 12> kBeforeNames = {
    ".",        "->",        "::",   "struct", "union", "enum",
    "typename", "namespace", "goto", "using",  "case",  "#"};
constexpr std::array<std::string_view, 4> kCasts = {"unsigned", "signed", "long", "short"};
constexpr std::array<std::string_view, 6> kBeforeCasts = {"{", "(", ",", "=", "return", "+"};

template <size_t N>
bool any(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

bool is_macro(std::string_view word) {
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

bool is_name(std::string_view t) {
  return is_word(t) && !any(kNoNames, t) && !any(kDeclaring, t);
}

bool is_string(std::string_view t) {
  return t.size() >= 2 && t.back() == '"';
}

class MacroReader {
 public:
  MacroReader(std::string_view text, const std::vector<Token>& tokens, std::vector<bool>& gone)
      : text_(text), tokens_(tokens), gone_(gone) {
    for (uint32_t i = 0; i < tokens.size(); ++i) {
      if (!tokens[i].comment && !tokens[i].directive) code_.push_back(i);
    }
  }

  std::vector<Reading::Blank> run() {
    for (size_t i = 0; i < code_.size(); ++i) {
      const std::string_view t = word(i);
      if (t.size() < kFewestLetters || is_gone(i)) continue;
      if (any(kCasts, t)) {
        cast(i);
      } else if (is_upper(t.front()) || t.front() == '_') {
        macro(i);
      }
    }
    std::sort(blanks_.begin(), blanks_.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return std::move(blanks_);
  }

 private:
  // --- tokens outside of comments and preprocessor lines, by their number among these

  std::string_view word(size_t i) const {
    return i < code_.size() ? tokens_[code_[i]].text(text_) : std::string_view();
  }
  std::string_view before(size_t i) const { return i > 0 ? word(i - 1) : std::string_view(); }
  bool is_gone(size_t i) const { return gone_[code_[i]]; }

  // Whether a preprocessor line, or the text's begin or end, stands before a token.
  bool after_directive(size_t i) const {
    if (i == 0 || i >= code_.size()) return true;
    for (uint32_t t = code_[i] - 1; t > code_[i - 1]; --t) {
      if (tokens_[t].directive) return true;
    }
    return false;
  }

  bool on_a_new_line(size_t i) const {
    if (i == 0 || i >= code_.size()) return true;
    const uint32_t from = tokens_[code_[i - 1]].end;
    return text_.substr(from, tokens_[code_[i]].begin - from).find('\n') != text_.npos;
  }

  bool begins_statement(size_t i) const {
    const std::string_view p = before(i);
    return p == ";" || p == "{" || p == "}" || after_directive(i) || is_gone(i - 1);
  }

  // The parenthesis that closes the one at i, or the number of tokens.
  size_t close(size_t i) const {
    int depth = 0;
    for (size_t k = i; k < std::min(code_.size(), i + kLongestCall); ++k) {
      const std::string_view t = word(k);
      if (t == "(" || t == "{" || t == "[") ++depth;
      if (t == ")" || t == "}" || t == "]") --depth;
      if (depth == 0) return t == ")" ? k : code_.size();
    }
    return code_.size();
  }

  void blank(size_t first, size_t last, bool attached, char fill = ' ') {
    blanks_.push_back({.begin = tokens_[code_[first]].begin,
                       .end = tokens_[code_[last]].end,
                       .fill = fill,
                       .attached = attached});
    if (fill != ' ') return;
    for (size_t i = first; i <= last; ++i)
      gone_[code_[i]] = true;
  }

  // --- rules

  void cast(size_t i) {
    const std::string_view inner = word(i + 2);
    if (word(i + 1) != "(" || !any(kBeforeCasts, before(i))) return;
    if (inner == "*" || inner == "&" || inner == ")") return;
    blank(i, i, false, 'u');
  }

  void macro(size_t i) {
    const std::string_view t = word(i);
    const std::string_view p = before(i);
    const bool string = is_string(p) || is_string(word(i + 1));
    if (!is_macro(t) && !(string && t.starts_with("PRI"))) return;
    if (any(kBeforeNames, p) && !after_directive(i)) return;
    if (word(i + 1) == "(") return call(i);
    if (string) return blank(i, i, false);
    if (after_directive(i + 1)) return;
    if (p == "class" ? heads_class(i + 1) : declares(i + 1) || behind_star(i)) {
      blank(i, i, true);
    }
  }

  bool heads_class(size_t i) const {
    const std::string_view next = word(i + 1);
    return is_name(word(i)) && (next == "{" || next == ":" || next == "final");
  }

  // int *MACRO p
  bool behind_star(size_t i) const {
    const std::string_view p = before(i);
    const std::string_view next = word(i + 2);
    return (p == "*" || p == "&") && is_name(word(i + 1)) &&
           (next == "," || next == ")" || next == ";" || next == "=" || next == "[" || next == "(");
  }

  // Whether a type begins at i, or behind macros with arguments, with what it declares behind it,
  // so that no type can be before it.
  bool declares(size_t i) const {
    for (size_t n = 0; n < kMostCalls && is_macro(word(i)) && word(i + 1) == "("; ++n) {
      const size_t last = close(i + 1);
      if (last == code_.size()) return false;
      i = last + 1;
    }
    const std::string_view t = word(i);
    if (any(kDeclaring, t)) return true;
    if (t == "const" || t == "volatile") {
      const std::string_view next = word(i + 2);
      return is_word(word(i + 1)) &&
             (is_word(next) || next == "*" || next == "&" || next == "<" || next == "::");
    }
    if (!is_name(t)) return false;
    size_t last = i;
    while (word(last + 1) == "::" && is_name(word(last + 2)))
      last += 2;
    last = arguments_end(last);
    const std::string_view next = word(last + 1);
    return next == "*" || next == "&" || next == "const" || next == "volatile" || is_name(next) ||
           any(kDeclaring, next);
  }

  // The last token of a template's arguments behind the name at i, or i.
  size_t arguments_end(size_t i) const {
    if (word(i + 1) != "<") return i;
    int depth = 0;
    for (size_t k = i + 1; k < std::min(code_.size(), i + kLongestArguments); ++k) {
      const std::string_view t = word(k);
      if (t == "<") ++depth;
      if (t == ">" && --depth == 0) return k;
      if (t == ";" || t == "{" || t == "(") break;
    }
    return i;
  }

  // MACRO(...)
  void call(size_t i) {
    if (is_string(before(i))) return string_call(i);
    const bool in_class = before(i) == "class" || before(i) == "inline" || before(i) == "static";
    if (!begins_statement(i) && !in_class) return;
    const size_t last = close(i + 1);
    if (last == code_.size()) return;
    const size_t next = last + 1;
    const bool same_line = !on_a_new_line(next) && !after_directive(next);
    if (same_line && (in_class && before(i) == "class" ? heads_class(next) : declares(next))) {
      return blank(i, last, true);
    }
    if (in_class) return;
    if (word(next) == ";") return wrapper(i, last);
    if (!same_line && ends_nothing(next) && !holds_statement(i, last)) blank(i, last, false);
  }

  void string_call(size_t i) {
    const size_t last = close(i + 1);
    if (last != code_.size() && is_string(word(last + 1))) blank(i, last, false);
  }

  // What can follow a statement on a new line and go on with none.
  bool ends_nothing(size_t next) const {
    const std::string_view t = word(next);
    return after_directive(next) || t == "}" || (is_word(t) && t != "else");
  }

  bool holds_statement(size_t first, size_t last) const {
    for (size_t i = first; i < last; ++i) {
      if (word(i) == ";") return true;
    }
    return false;
  }

  // MACRO(decl f(...), "text");   MACRO(a; b);   MACRO(a, , b);
  void wrapper(size_t i, size_t last) {
    size_t comma = 0;
    bool statements = false;
    bool empty = false;
    int depth = 0;
    for (size_t k = i + 1; k < last; ++k) {
      const std::string_view t = word(k);
      if (t == "(" || t == "{" || t == "[") ++depth;
      if (t == ")" || t == "}" || t == "]") --depth;
      if (t == "," && depth == 1) comma = k;
      const std::string_view next = word(k + 1);
      empty = empty || (depth == 1 && (t == "," || k == i + 1) &&
                        (next == "," || (comma != 0 && next == ")")));
      statements = statements || (t == ";" && depth == 1);
    }
    if (statements) {
      blank(i, i + 1, false);
      return blank(last, last, false);
    }
    if (empty) return blank(i + 2, last - 1, false);
    const bool declaration = is_word(word(i + 2)) && is_word(word(i + 3));
    if (comma == 0 || !declaration || word(comma - 1) != ")" || !is_string(word(last - 1))) return;
    blank(i, i + 1, true);
    blank(comma, last, false);
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::vector<uint32_t> code_;
  std::vector<bool>& gone_;
  std::vector<Reading::Blank> blanks_;
};

}  // namespace

std::vector<Reading::Blank> macro_blanks(std::string_view text, const std::vector<Token>& tokens,
                                         std::vector<bool>& gone) {
  gone.assign(tokens.size(), false);
  return MacroReader(text, tokens, gone).run();
}

}  // namespace patcher
