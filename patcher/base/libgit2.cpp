#include "patcher/base/libgit2.h"

#include <git2.h>

#include "patcher/base/error.h"

namespace patcher {

void start_libgit2() {
  // Left to the end of the process.
  static const int started = git_libgit2_init();
  if (started < 0) throw BrokenEnvironment("libgit2 does not start");
}

std::string blob_name(std::string_view bytes) {
  start_libgit2();
  git_oid name;
  if (git_odb_hash(&name, bytes.data(), bytes.size(), GIT_OBJECT_BLOB) != 0)
    throw BrokenEnvironment("libgit2 does not hash");
  char digits[GIT_OID_HEXSZ + 1];
  return git_oid_tostr(digits, sizeof digits, &name);
}

std::string_view file_mode(mode_t mode) {
  return (mode & 0111) != 0 ? "100755" : "100644";
}

}  // namespace patcher
