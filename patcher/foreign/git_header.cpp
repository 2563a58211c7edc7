#include "patcher/foreign/git_header.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "patcher/foreign/unified_names.h"

namespace patcher {
namespace {

mode_t mode(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 8);
  return value;
}

}  // namespace

GitHeaderLine read_git_header(std::string_view line, UnifiedFile& f) {
  const auto take = [&](std::string_view prefix) {
    if (!line.starts_with(prefix)) return false;
    line.remove_prefix(prefix.size());
    return true;
  };
  if (take("GIT binary patch") || take("Binary files ")) {
    return {.fault =
                fmt::format("`{}` is binary", f.path_after.empty() ? f.path_before : f.path_after)};
  }
  if (take("copy from ")) {
    return {.fault = fmt::format("`{}` is copied, which is not supported", line)};
  }
  if (take("rename from ")) {
    f.path_before = unquoted_name(line);
    return {.known = true, .names = true};
  }
  if (take("rename to ")) {
    f.path_after = unquoted_name(line);
    return {.known = true, .names = true};
  }
  if (take("new file mode ")) {
    f.mode_after = mode(line);
    f.path_before.clear();
    return {.known = true, .names = true};
  }
  if (take("deleted file mode ")) {
    f.mode_before = mode(line);
    f.path_after.clear();
    return {.known = true, .names = true};
  }
  if (take("old mode ")) {
    f.mode_before = mode(line);
    return {.known = true};
  }
  if (take("new mode ")) {
    f.mode_after = mode(line);
    return {.known = true};
  }
  if (take("index ")) {
    const size_t dots = line.find("..");
    if (dots != line.npos) {
      f.blob_before = line.substr(0, dots);
      const size_t blank = std::min(line.find(' ', dots), line.size());
      f.blob_after = line.substr(dots + 2, blank - dots - 2);
      // A mode that stays is told here; of a file it says nothing that the tree does not.
      const mode_t kept = mode(line.substr(std::min(blank + 1, line.size())));
      if (kept != 0 && !S_ISREG(kept)) f.mode_before = f.mode_after = kept;
    }
    return {.known = true};
  }
  return {.known = take("similarity index ") || take("dissimilarity index ")};
}

}  // namespace patcher
