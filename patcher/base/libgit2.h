#pragma once

#include <string>
#include <string_view>

namespace patcher {

// Starts libgit2, once for the process. Every use of libgit2 comes after it; threads may call it at
// the same time. Throws BrokenEnvironment when libgit2 does not start.
void start_libgit2();

// Git's name for a file of these bytes, in hexadecimal digits.
std::string blob_name(std::string_view bytes);

}  // namespace patcher
