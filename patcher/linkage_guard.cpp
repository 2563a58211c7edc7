#include "patcher/linkage_guard.h"

#include <string>

#include "patcher/lines.h"

namespace patcher {
namespace {

// A line without its white space and its comment.
std::string packed(std::string_view line) {
  std::string out;
  for (const char c : line.substr(0, std::min(line.find("//"), line.find("/*")))) {
    if (c != ' ' && c != '\t' && c != '\r') out += c;
  }
  return out;
}

}  // namespace

std::vector<uint32_t> linkage_guards(std::string_view text) {
  std::vector<uint32_t> found;
  if (text.find("__cplusplus") == std::string_view::npos) return found;
  const Lines lines(text);
  for (size_t l = 1; l + 1 < lines.count(); ++l) {
    const std::string_view wanted = found.size() % 2 == 0 ? "extern\"C\"{" : "}";
    if (packed(lines.text(l)) != wanted || packed(lines.text(l + 1)) != "#endif") continue;
    const std::string above = packed(lines.text(l - 1));
    if (above == "#ifdef__cplusplus" || above == "#ifdefined(__cplusplus)") {
      found.push_back(lines.begin(l));
    }
  }
  if (found.size() % 2 != 0) found.clear();
  return found;
}

}  // namespace patcher
