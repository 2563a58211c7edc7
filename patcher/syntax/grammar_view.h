#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "patcher/syntax/tokens.h"

namespace patcher {

// The grammars know no preprocessor: a macro that stands for a specifier is a second type to them,
// and a conditional that cuts through a statement is a statement that never ends, for which a whole
// file can become one ERROR. So a text is shown to them with blanks of equal length in place of
// what only the preprocessor reads, and bytes keep their offsets. Only the tree is read from that:
// anchors compare the tokens of the text as it is.
//
// Macros are known by their name, as people write them: capitals, digits and underscores. Blank are
//
//   MACRO int f();   MACRO(1, 2) static int f()   f(int x MACRO) MACRO {   (an attribute)
//   class MACRO C {   int *MACRO p   MACRO C() : x() {   MACRO ~C();
//   template <typename T, MACRO(T)>                (all but its name, a parameter's then)
//   "text" MACRO "text"                            (a part of a string)
//   MACRO(decl f(...), "text");                    (a wrapper: what is around decl)
//   MACRO(x << y; z << "text");                    (statements as an argument: what is around them)
//   MACRO(a, , b);   MACRO(int, b);                (arguments that a call has not)
//   MACRO(a, b)   MACRO   if MACRO (x)   MACRO {   (a line that ends in no `;`, or a word)
//   MACRO("text") {   va_arg(list, type)           (what is in it, or all of it)
//   unsigned(x)                                    (a cast: shown as a call of a function)
//
// each where no name of a type or a function can be meant. Of a conditional that the grammars do
// not read, because it begins or ends inside a statement or a list or its branches open what they
// do not close, the first branch is shown alone, as if the other ones and the lines with `#` were
// not there. The statement that it cuts through is `unread`, as are the branches that are not
// shown; an `extern "C"` guard cuts through nothing.
struct Reading {
  struct Blank {
    uint32_t begin = 0;
    uint32_t end = 0;
    char fill = ' ';
    bool attached = false;  // a part of the declaration that follows

    bool operator==(const Blank&) const = default;
  };
  std::vector<Blank> blanks = {};  // in order, apart
  // Where what is there depends on the preprocessor: as good as damaged. In order, apart.
  std::vector<std::pair<uint32_t, uint32_t>> unread = {};
};

// How to show a text to a grammar. Costs a constant number of looks at each token.
Reading read_as(std::string_view text, const std::vector<Token>& tokens);

// The text as it is shown; of the same length.
std::string shown(std::string_view text, const Reading& reading);

// The parts of read_as: those of macros are blanks; `gone` says for each token whether it is in
// one.
std::vector<Reading::Blank> macro_blanks(std::string_view text, const std::vector<Token>& tokens,
                                         std::vector<bool>& gone);
// And those of conditionals, with what they leave unread.
Reading cutting_conditionals(std::string_view text, const std::vector<Token>& tokens,
                             const std::vector<bool>& gone);

}  // namespace patcher
