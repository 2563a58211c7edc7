#pragma once

#include <string>
#include <string_view>

namespace patcher {

// Writes a file that lies outside of any tree: as it was or with all of the text, never a part of
// it, with the mode that it had. A link stays, and what it leads to is written; what is no regular
// file (a pipe, /dev/stdout) takes the text as it comes. Throws BrokenEnvironment with the path and
// the reason.
void write_whole(const std::string& path, std::string_view text);

}  // namespace patcher
