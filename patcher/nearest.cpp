#include "patcher/nearest.h"

#include <algorithm>
#include <unordered_map>

namespace patcher {
namespace {

// Tokens as small numbers, so that comparing everything with everything stays cheap.
class Numbers {
 public:
  int of(std::string_view text) {
    return ids_.emplace(text, static_cast<int>(ids_.size())).first->second;
  }

 private:
  std::unordered_map<std::string_view, int> ids_;
};

struct Best {
  size_t equal = 0;
  size_t prefix = 0;
  uint32_t at = 0;
};

}  // namespace

std::optional<Nearest> nearest_place(const Source& source, const Side& side,
                                     const std::vector<CodeRange>& ranges) {
  uint64_t cells = 0;
  for (const CodeRange& range : ranges)
    cells += uint64_t{range.second - range.first} * side.code.size();
  if (cells > kMatchSteps) return std::nullopt;
  Numbers numbers;
  std::vector<int> pattern;
  for (size_t t : side.code)
    pattern.push_back(numbers.of(side.token_text(t)));
  std::vector<int> target;
  for (uint32_t t : source.code()) {
    target.push_back(numbers.of(source.tokens()[t].text(source.bytes())));
  }
  Best best;
  for (const CodeRange& range : ranges) {
    for (uint32_t p = range.first; p < range.second; ++p) {
      const size_t n = std::min<size_t>(pattern.size(), range.second - p);
      size_t equal = 0;
      for (size_t i = 0; i < n; ++i)
        equal += pattern[i] == target[p + i] ? 1 : 0;
      size_t prefix = 0;
      while (prefix < n && pattern[prefix] == target[p + prefix])
        ++prefix;
      const auto better = std::pair(equal, prefix) > std::pair(best.equal, best.prefix);
      if (better) best = {equal, prefix, p};
    }
  }
  if (best.equal == 0) return std::nullopt;
  const auto token = [&](size_t i) -> const Token& { return source.tokens()[source.code()[i]]; };
  Nearest out{.byte = token(best.at).begin, .equal = best.equal, .token = best.prefix + 1};
  const size_t differing = best.at + best.prefix;
  out.wanted = best.prefix < pattern.size() ? side.token_text(side.code[best.prefix]) : "";
  const bool there = differing < source.code().size();
  out.there = there ? token(differing).text(source.bytes()) : "the end of the file";
  out.differs = there ? token(differing).begin : static_cast<uint32_t>(source.bytes().size());
  return out;
}

}  // namespace patcher
