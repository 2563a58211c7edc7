#pragma once

namespace patcher {

// Starts libgit2, once for the process. Every use of libgit2 comes after it; threads may call it at
// the same time. Throws BrokenEnvironment when libgit2 does not start.
void start_libgit2();

}  // namespace patcher
