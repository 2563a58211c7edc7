#include "patcher/hunk/another_version.h"

#include <algorithm>

#include "patcher/hunk/anchor.h"
#include "patcher/text/align.h"

namespace patcher {
namespace {

// The fewest tokens to insert into or remove from the side so that it is a stretch of the target.
size_t distance(const Source& source, const Side& side, CodeRange range) {
  std::vector<uint32_t> wanted;
  for (const size_t t : side.code)
    wanted.push_back(CodeIndex::number(side.token_text(t)));
  std::vector<size_t> row(wanted.size() + 1);
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = i;
  size_t best = row.back();
  for (uint32_t t = range.first; t < range.second; ++t) {
    const uint32_t there = source.index().numbers()[t];
    size_t diagonal = row[0];
    for (size_t i = 1; i < row.size(); ++i) {
      const bool equal = wanted[i - 1] == there;
      const size_t here = equal ? diagonal : std::min(row[i], row[i - 1]) + 1;
      diagonal = row[i];
      row[i] = here;
    }
    best = std::min(best, row.back());
  }
  return best;
}

size_t changed_tokens(const Hunk& hunk, const Side& side, HunkLine::Kind kind) {
  return static_cast<size_t>(std::count_if(side.code.begin(), side.code.end(), [&](size_t t) {
    return hunk.lines[side.first_line[t]].kind == kind;
  }));
}

CodeRange search_range(const Source& source, const Hunk& hunk) {
  const auto scopes = hunk.scope.file ? std::vector<const Scope*>{} : source.resolve(hunk.scope);
  if (scopes.size() != 1) return {0, static_cast<uint32_t>(source.code().size())};
  return code_range(source, scopes.front()->begin, scopes.front()->end);
}

}  // namespace

bool holds_another_version(const Source& source, const Hunk& written, uint64_t& cells) {
  if (!source.bad_bytes().empty()) return false;
  const Hunk hunk = whole_tokens(written, source.language());
  const Side before = make_side(hunk, source.language(), HunkLine::Kind::kRemoved);
  const Side after = make_side(hunk, source.language(), HunkLine::Kind::kAdded);
  const CodeRange range = search_range(source, hunk);
  const uint64_t needed =
      uint64_t{before.code.size() + after.code.size()} * (range.second - range.first);
  if (needed > kMaxAlignCells || needed > cells) return false;
  cells -= needed;
  const size_t added = changed_tokens(hunk, after, HunkLine::Kind::kAdded);
  const size_t to_result = distance(source, after, range);
  return 2 * to_result <= added && to_result < distance(source, before, range);
}

}  // namespace patcher
