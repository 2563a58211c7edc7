// Any bytes as a diff, a mail or an mbox: reading comes to an end, names stay inside the tree, and
// of what is taken no line is lost or counted twice.
#include <algorithm>
#include <cstdlib>

#include "patcher/foreign/unified.h"
#include "patcher/text/lines.h"

namespace {

void expect_in_tree(const patcher::UnifiedFile& f) {
  for (const std::string& path : {f.path_before, f.path_after}) {
    if (!path.empty() && !patcher::is_safe_path(path)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  patcher::is_unified(text);
  size_t taken = 0;
  for (const patcher::UnifiedPatch& patch : patcher::parse_mails("fuzz.patch", text)) {
    if (patch.line < 1 || static_cast<size_t>(patch.line) > lines) std::abort();
    if (!patch.errors.empty()) continue;
    for (const patcher::UnifiedFile& f : patch.files) {
      expect_in_tree(f);
      for (const patcher::UnifiedHunk& h : f.hunks)
        taken += 1 + h.lines.size();
    }
    patcher::patch_of("fuzz.patch", patch);
  }
  if (taken > size) std::abort();
  const bool one = patcher::parse_mails("fuzz.patch", text).size() == 1;
  const auto whole = patcher::parse_unified("fuzz.patch", text, 1);
  if (!one && whole.errors.empty()) std::abort();
  return 0;
}
