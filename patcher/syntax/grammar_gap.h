#pragma once

#include <tree_sitter/api.h>

namespace patcher {

// Valid code that the pinned grammars flag although all around it is read as it should be. Each is
// one shape, recognised by its node kinds and nothing looser; everything else that is flagged is
// damage.
//
//   default `= {}` of a parameter   read as a compound literal whose type is MISSING
//   enum : int {                    an enum without a name has a MISSING one
//   MACRO inline int f(...)         an attribute macro before a specifier is read as the type, so
//                                   that the type itself is an ERROR of one word; name, parameters
//                                   and body are sound. Without a specifier between them the macro
//                                   might be the type, and the place stays damaged.
//   MACRO int f(...);               the same of a declaration outside of functions. There it
//   matters
//                                   less which of the two words is the macro: nothing else has two
//                                   words there, and name and parameters are sound.
//
// REQUIRES an ERROR or MISSING node.
bool is_grammar_gap(TSNode node);

// Whether a node is ERROR or MISSING and no gap.
bool is_damaged(TSNode node);
// Whether a node is or holds damage. Iterative.
bool holds_damage(TSNode node);

}  // namespace patcher
