// Any bytes as a series file: names without blanks around them, in lines that exist.
#include <algorithm>
#include <cstdlib>

#include "patcher/series/series.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  int last = 0;
  for (const patcher::SeriesLine& line : patcher::parse_series(text)) {
    if (line.name.empty() || line.line <= last || line.line > lines) std::abort();
    if (line.name.find('\n') != std::string::npos) std::abort();
    last = line.line;
  }
  return 0;
}
