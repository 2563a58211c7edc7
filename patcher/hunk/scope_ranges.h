#pragma once

#include <optional>
#include <vector>

#include "patcher/hunk/anchor.h"
#include "patcher/hunk/place.h"
#include "patcher/patch/patch.h"

namespace patcher {

// Where the anchor of a hunk may be: its scope's places, more than one only where the hunk states
// how many or ScopeRule::kUndo lets it. Nothing when the scope is missing, is there more than once
// or is damaged, with the reason in `failure`.
std::optional<std::vector<CodeRange>> scope_ranges(const Source& source, const Hunk& hunk,
                                                   ScopeRule rule,
                                                   std::optional<Unplaced>& failure);

CodeRange whole_file(const Source& source);
// Whether a byte is in the branch of a conditional that the hunk states.
bool in_branch(const Source& source, const Hunk& hunk, uint32_t byte);

}  // namespace patcher
