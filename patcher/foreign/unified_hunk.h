#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "patcher/foreign/unified.h"

namespace patcher {

// A hunk as it is read off a diff's lines.
struct HunkRead {
  UnifiedHunk hunk = {};   // its lines' numbers count from its header
  size_t end = 0;          // the index behind it, or of the line that is at fault
  std::string fault = {};  // empty: there is none
};

// Reads the hunk whose header is lines[at]. Its lines must be as many as the header counts.
HunkRead read_hunk(const std::vector<std::string_view>& lines, size_t at);

}  // namespace patcher
