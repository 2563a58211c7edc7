#pragma once

#include <vector>

#include "patcher/carry/lost_names.h"

namespace patcher {

// Functions and macros that the target has not and that the base calls in the line before a call
// that the change removes, on the same thing: both name one variable among their arguments. They
// may be why the call could go, and what is there instead may need it. Only of functions to which
// the change adds nothing. The names' bytes are in the base.
std::vector<LostName> gone_before_removed_calls(const Source& base, const Source& after,
                                                const Source& target);

}  // namespace patcher
