#include "patcher/base/libgit2.h"

#include <git2.h>

#include "patcher/base/error.h"

namespace patcher {

void start_libgit2() {
  // Left to the end of the process.
  static const int started = git_libgit2_init();
  if (started < 0) throw BrokenEnvironment("libgit2 does not start");
}

}  // namespace patcher
