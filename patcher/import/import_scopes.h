#pragma once

#include <span>
#include <vector>

#include "patcher/syntax/scope.h"
#include "patcher/syntax/source.h"
#include "patcher/text/change_blocks.h"

namespace patcher {

// What a hunk header can say for changes of the file `before`, innermost first; `file` is the last.
// Functions and types that hold all of `blocks` and do not lie in damage; where the name alone
// leaves several, a function is also offered with its parameters, if `parameters` allows that.
std::vector<ScopeSpec> scopes_around(const Source& before, std::span<const ChangeBlock> blocks,
                                     bool parameters);

}  // namespace patcher
