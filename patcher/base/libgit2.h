#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace patcher {

// Starts libgit2, once for the process. Every use of libgit2 comes after it; threads may call it at
// the same time. Throws BrokenEnvironment when libgit2 does not start.
void start_libgit2();

// Git's name for a file of these bytes, in hexadecimal digits.
std::string blob_name(std::string_view bytes);

// Git's mode of a file: "100755" where somebody may execute it, else "100644".
std::string_view file_mode(mode_t mode);

}  // namespace patcher
