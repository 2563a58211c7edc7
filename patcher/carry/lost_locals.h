#pragma once

#include <vector>

#include "patcher/carry/lost_names.h"

namespace patcher {

// Variables and parameters that a function of the base declares for certain, that lines added to it
// use, and that the function does not have where these lines are in `result`: it mentions the name
// nowhere but as a member's, or only where another variable of that name is meant, which is
// declared in a block that is not around the lines, or behind them.
std::vector<LostName> lost_locals(const ChangedFile& file);

// Variables that a function of the target declares once, in a line that the change removes, and
// that it still uses in `result`, where the base's function has no use of them left. Their bytes
// are in `result`.
std::vector<LostName> still_used_locals(const ChangedFile& file);

}  // namespace patcher
