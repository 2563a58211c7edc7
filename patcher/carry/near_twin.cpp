#include "patcher/carry/near_twin.h"

#include <algorithm>
#include <vector>

#include "patcher/carry/outline.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

constexpr size_t kFewestOfTwin = 4;  // tokens: f ( ) ;
constexpr size_t kNearestRows = 5;   // lines of code on each side of the added ones

// The tokens of the lines around a place, as far as they are no less indented than those next to
// it.
CodeRange block_around(const TokenIndex& file, size_t place, size_t indent, size_t rows) {
  const auto deep = [&](size_t code) {
    return columns(file.source().lines().text(file.line_of(code))) >= indent;
  };
  size_t begin = place;
  for (size_t n = 0; n < rows && begin > 0 && deep(begin - 1); ++n) {
    const size_t line = file.line_of(begin - 1);
    while (begin > 0 && file.line_of(begin - 1) == line)
      --begin;
  }
  size_t end = place;
  for (size_t n = 0; n < rows && end < file.size() && deep(end); ++n) {
    const size_t line = file.line_of(end);
    while (end < file.size() && file.line_of(end) == line)
      ++end;
  }
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

// How far the code next to a place is indented: the deeper of its two neighbours.
size_t indent_at(const TokenIndex& file, size_t place) {
  const auto indent = [&](size_t code) {
    return columns(file.source().lines().text(file.line_of(code)));
  };
  return std::max(place > 0 ? indent(place - 1) : 0, place < file.size() ? indent(place) : 0);
}

}  // namespace

std::optional<size_t> near_twin(const TokenIndex& base, const TokenIndex& after,
                                const TokenIndex& target, const ChangeBlock& block,
                                const CarriedPlace& place) {
  const size_t first = after.at_line(block.after_begin);
  const size_t last = after.at_line(block.after_end);
  const bool lines = base.source().language() == Language::kLines;
  if (!block.inserts() || last - first < (lines ? 1 : kFewestOfTwin)) return std::nullopt;
  const auto added = after.run(first, last);
  const size_t rows = kNearestRows + (block.after_end - block.after_begin);
  const size_t was = base.at_line(block.before_begin);
  const auto before =
      base.find(added, block_around(base, was, indent_at(base, was), rows), kNearestRows);
  const auto now = target.find(
      added, block_around(target, place.begin, indent_at(target, place.begin), rows), kNearestRows);
  return now.size() > before.size() ? std::optional(now.back()) : std::nullopt;
}

}  // namespace patcher
