#pragma once

#include <string>
#include <vector>

#include "patcher/syntax/source.h"
#include "patcher/text/change_blocks.h"

namespace patcher {

// The innermost function or type of the base that holds the block, and more after it; null when the
// block is outside of all.
const Scope* holder_of(const Source& base, const ChangeBlock& block);

// The parameters' types without `struct`, `class`, `union` and `enum` before a name, which C needs
// and C++ does not: code that moves from the one to the other loses them.
std::vector<std::string> plain_params(const Scope& scope);

// Those that have the kind and the qualified name of `scope`, and its plain_params() and qualifiers
// too where that is asked for.
std::vector<const Scope*> same_definitions(const std::vector<Scope>& scopes, const Scope& scope,
                                           bool parameters);

}  // namespace patcher
