#pragma once

#include <optional>
#include <string>

namespace patcher {

// The bytes of a file; nothing where there is none. Throws BrokenEnvironment, with the reason,
// where something is there that is no regular file or cannot be read.
std::optional<std::string> read_whole(const std::string& path);

}  // namespace patcher
