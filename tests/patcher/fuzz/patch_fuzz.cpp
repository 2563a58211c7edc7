// Any bytes as a patch file: parsing comes to an end, and undoing is its own inverse.
#include <cstdlib>

#include "patcher/patch/patch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const patcher::Patch patch = patcher::parse_patch("fuzz.patch", text);
  if (!patch.usable()) return 0;
  const patcher::Patch again = patcher::reversed(patcher::reversed(patch));
  if (again.changes.size() != patch.changes.size()) std::abort();
  for (size_t c = 0; c < patch.changes.size(); ++c) {
    if (again.changes[c].path != patch.changes[c].path) std::abort();
    if (!patcher::is_safe_path(patch.changes[c].path)) std::abort();
    const auto& hunks = patch.changes[c].hunks;
    for (size_t h = 0; h < hunks.size(); ++h) {
      if (again.changes[c].hunks[h].lines.size() != hunks[h].lines.size()) std::abort();
    }
  }
  return 0;
}
