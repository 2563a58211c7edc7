// macro_blanks: the macros that a grammar cannot read, by the words around them.
#include <algorithm>
#include <array>

#include "patcher/syntax/code_words.h"
#include "patcher/syntax/grammar_view.h"

namespace patcher {
namespace {

constexpr size_t kShortestName = 3;
constexpr size_t kMostCalls = 4;          // one behind the other
constexpr size_t kLongestArguments = 32;  // tokens of a template's arguments

constexpr std::array<std::string_view, 12> kBeforeNames = {".",     "->",    "::",   "typename",
                                                           "#",     "case",  "goto", "namespace",
                                                           "using", "union", "enum", "struct"};
constexpr std::array<std::string_view, 4> kCasts = {"unsigned", "signed", "long", "short"};
constexpr std::array<std::string_view, 6> kBeforeCasts = {"{", "(", ",", "=", "return", "+"};
// What can follow a function's parameters.
constexpr std::array<std::string_view, 8> kBehindParameters = {
    "{", ";", ":", "->", "=", "const", "noexcept", "override"};

class MacroReader {
 public:
  MacroReader(std::string_view text, const std::vector<Token>& tokens, std::vector<bool>& gone)
      : code_(text, tokens), gone_(gone) {}

  std::vector<Reading::Blank> run() {
    for (size_t i = 0; i < code_.size(); ++i) {
      const std::string_view t = word(i);
      if (t.size() < kShortestName || is_gone(i)) continue;
      const bool upper = (t.front() >= 'A' && t.front() <= 'Z') || t.front() == '_';
      if (one_of(kCasts, t)) {
        cast(i);
      } else if (t == "va_arg") {
        type_argument(i);
      } else if (upper) {
        macro(i);
      }
    }
    std::sort(blanks_.begin(), blanks_.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return std::move(blanks_);
  }

 private:
  std::string_view word(size_t i) const { return code_.word(i); }
  std::string_view before(size_t i) const { return code_.before(i); }
  bool is_gone(size_t i) const { return gone_[code_.index(i)]; }

  bool begins_statement(size_t i) const {
    const std::string_view p = before(i);
    return p == ";" || p == "{" || p == "}" || code_.after_directive(i) || is_gone(i - 1);
  }

  void blank(size_t first, size_t last, bool attached, char fill = ' ') {
    blanks_.push_back({.begin = code_.token(first).begin,
                       .end = code_.token(last).end,
                       .fill = fill,
                       .attached = attached});
    if (fill != ' ') return;
    for (size_t i = first; i <= last; ++i)
      gone_[code_.index(i)] = true;
  }

  void cast(size_t i) {
    const std::string_view inner = word(i + 2);
    if (word(i + 1) != "(" || !one_of(kBeforeCasts, before(i))) return;
    if (inner == "*" || inner == "&" || inner == ")") return;
    blank(i, i, false, 'u');
  }

  // va_arg(list, type)
  void type_argument(size_t i) {
    const size_t last = word(i + 1) == "(" ? code_.close(i + 1) : code_.size();
    if (last != code_.size() && word(i + 3) == "," && last > i + 4) blank(i + 3, last - 1, false);
  }

  void macro(size_t i) {
    const std::string_view t = word(i);
    const std::string_view p = before(i);
    const bool string = is_string(p) || is_string(word(i + 1));
    if (!is_macro_name(t) && !(string && t.starts_with("PRI"))) return;
    if (p == "class" || p == "struct" || p == "union") return head_of_class(i);
    if (one_of(kBeforeNames, p) && !code_.after_directive(i)) return;
    if (word(i + 1) == "(" && p != "if") return call(i);
    if (string || is_line(i)) return blank(i, i, false);
    if (code_.after_directive(i + 1)) return;
    if (declares(i + 1) || constructs(i + 1) || behind_star(i) || behind_name(i)) {
      blank(i, i, true);
    } else if ((p == "if" && word(i + 1) == "(") || behind_parameters(i, i) ||
               (begins_statement(i) && word(i + 1) == "{")) {
      blank(i, i, false);
    }
  }

  // --- a word

  // class MACRO C {   class MACRO(a) C : public B
  void head_of_class(size_t i) {
    const size_t last = word(i + 1) == "(" ? code_.close(i + 1) : i;
    if (last == code_.size() || !is_name(word(last + 1))) return;
    const std::string_view next = word(last + 2);
    // `struct T name {1}` is an object of type T; a definition's braces hold declarations.
    const bool defines =
        next == "{" && (before(i) == "class" || holds(last + 2, code_.close(last + 2), ";"));
    if (defines || next == "final" || (next == ":" && before(i) == "class") ||
        (next == ":" && is_word(word(last + 3)))) {
      blank(i, last, true);
    }
  }

  // A macro that has its line for itself, before what begins a line of its own.
  bool is_line(size_t i) const {
    const std::string_view p = before(i);
    if (p == "{" || !begins_statement(i) || !code_.on_a_new_line(i + 1)) return false;
    const std::string_view next = word(i + 1);
    const bool macro = is_macro_name(next) && code_.on_a_new_line(i + 2) && word(i + 2) != "(";
    return next == "namespace" || next == "using" || next == "}" || macro ||
           (code_.after_directive(i + 1) && p != ";");
  }

  // int *MACRO p
  bool behind_star(size_t i) const {
    const std::string_view p = before(i);
    const std::string_view next = word(i + 2);
    return (p == "*" || p == "&") && is_name(word(i + 1)) &&
           (next == "," || next == ")" || next == ";" || next == "=" || next == "[" || next == "(");
  }

  // f(int x MACRO, ...): the third word of a parameter.
  bool behind_name(size_t i) const {
    if (i < 2 || !is_name(before(i)) || (word(i + 1) != ")" && word(i + 1) != ",")) return false;
    const std::string_view type = word(i - 2);
    return is_declaring(type) || is_name(type) || type == "*" || type == "&" || type == ">";
  }

  // f(...) MACRO {   f(...) const MACRO(a);   with the macro's tokens [i, last]
  bool behind_parameters(size_t i, size_t last) const {
    const std::string_view next = word(last + 1);
    if (!one_of(kBehindParameters, next) && !is_macro_name(next)) return false;
    size_t at = i;
    for (size_t n = 0; n < kMostCalls && at > 0; ++n) {
      const std::string_view p = before(at);
      if (p != "const" && p != "noexcept" && p != "override" && !is_gone(at - 1)) break;
      --at;
    }
    if (before(at) != ")") return false;
    const size_t open = code_.open(at - 1);
    if (open == code_.size() || open == 0) return false;
    if (before(open) != ")") return is_name(before(open)) && !is_macro_name(before(open));
    const size_t pointer = code_.open(open - 1);  // int (*f)(...) MACRO;
    return pointer != code_.size() && word(pointer + 1) == "*";
  }

  // A constructor with initialisers, a destructor, a conversion: none of them has a type before it.
  bool constructs(size_t i) const {
    if (word(i) == "~") return is_name(word(i + 1)) && word(i + 2) == "(";
    if (word(i) == "operator") {
      return is_word(word(i + 1)) && word(i + 1) != "new" && word(i + 1) != "delete";
    }
    if (!is_name(word(i)) || word(i + 1) != "(") return false;
    size_t last = code_.close(i + 1);
    if (last != code_.size() && word(last + 1) == "noexcept") ++last;
    return last != code_.size() && word(last + 1) == ":" && is_name(word(last + 2));
  }

  // Whether a type begins at i, or behind macros with arguments, with what it declares behind it,
  // so that no type can be before it.
  bool declares(size_t i) const {
    for (size_t n = 0; n < kMostCalls && is_macro_name(word(i)) && word(i + 1) == "("; ++n) {
      const size_t last = code_.close(i + 1);
      if (last == code_.size()) return false;
      i = last + 1;
    }
    const std::string_view t = word(i);
    if (is_declaring(t)) return true;
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
    return next == "*" || next == "&" || next == "const" || next == "volatile" ||
           next == "operator" || is_name(next) || is_declaring(next);
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

  bool holds(size_t first, size_t last, std::string_view what) const {
    for (size_t i = first; i < std::min(last, code_.size()); ++i) {
      if (word(i) == what) return true;
    }
    return false;
  }

  // --- a call

  void call(size_t i) {
    const size_t last = code_.close(i + 1);
    if (last == code_.size()) return;
    const std::string_view p = before(i);
    const std::string_view next = word(last + 1);
    if (is_string(p)) {
      if (is_string(next)) blank(i, last, false);
    } else if ((p == "," || p == "<") && (next == "," || next == ">")) {
      blank(i + 1, last, false);  // template <typename T, MACRO(T)>: a parameter's name is left
    } else if (behind_parameters(i, last)) {
      blank(i, last, false);
    } else if (begins_statement(i) || p == "inline" || p == "static" || p == "constexpr") {
      statement(i, last);
    }
  }

  void statement(size_t i, size_t last) {
    const size_t next = last + 1;
    const bool same_line = !code_.on_a_new_line(next) && !code_.after_directive(next);
    if (same_line && (declares(next) || constructs(next))) return blank(i, last, true);
    if (!begins_statement(i)) return;
    if (word(next) == ";") return wrapper(i, last);
    // MACRO("text") {: no parameters of a function.
    if (word(next) == "{" && is_string(word(i + 2))) return blank(i, last, false);
    if (!same_line && ends_nothing(next) && !holds(i, last, ";")) blank(i, last, false);
  }

  // What can follow a statement on a new line and go on with none.
  bool ends_nothing(size_t next) const {
    const std::string_view t = word(next);
    return code_.after_directive(next) || t == "}" || (is_word(t) && t != "else");
  }

  // MACRO(decl f(...), "text");   MACRO(a; b);   MACRO(a, , b);   MACRO(int, a);
  void wrapper(size_t i, size_t last) {
    size_t comma = 0;
    bool statements = false;
    bool empty = false;
    bool type = false;  // an argument that is one, and no expression
    int depth = 0;
    for (size_t k = i + 1; k < last; ++k) {
      const std::string_view t = word(k);
      if (t == "(" || t == "{" || t == "[") ++depth;
      if (t == ")" || t == "}" || t == "]") --depth;
      if (depth != 1) continue;
      const std::string_view next = word(k + 1);
      const bool ends = next == "," || next == ")";
      if (t == ",") comma = k;
      empty = empty || ((t == "," || (k == i + 1 && next == ",")) && ends);
      type = type || (ends && (is_declaring(t) || ((t == "*" || t == "&") && is_word(before(k)))));
      statements = statements || t == ";";
    }
    if (statements) {
      blank(i, i + 1, false);
      return blank(last, last, false);
    }
    if (empty || type) return blank(i + 2, last - 1, false);
    const bool declaration = is_word(word(i + 2)) && is_word(word(i + 3));
    if (comma == 0 || !declaration || word(comma - 1) != ")" || !is_string(word(last - 1))) return;
    blank(i, i + 1, true);
    blank(comma, last, false);
  }

  const CodeWords code_;
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
