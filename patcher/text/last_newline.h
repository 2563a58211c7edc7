#pragma once

#include <string>

namespace patcher {

// The text with its last line ended, as its other lines are, or not ended. REQUIRES a text that has
// it the other way.
std::string with_last_newline(std::string text, bool ended);

}  // namespace patcher
