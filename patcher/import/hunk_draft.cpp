#include "patcher/import/hunk_draft.h"

#include <algorithm>
#include <string>

#include "patcher/text/lines.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;

bool is_skip(std::string_view line) {
  const size_t dots = line.find("...");
  return dots != std::string_view::npos && is_blank(line.substr(0, dots)) &&
         is_blank(line.substr(dots + 3));
}

void add(Hunk& hunk, Kind kind, const std::vector<std::string_view>& lines, size_t begin,
         size_t end) {
  for (size_t i = begin; i < end; ++i) {
    hunk.lines.push_back({.kind = kind, .text = std::string(lines[i])});
    if (kind == Kind::kContext && is_skip(lines[i])) hunk.lines.back().kind = Kind::kSkip;
  }
}

// What goes from a file's edge has context on one side only: the line there is written as going
// too, and coming back.
void frame_deletion(Hunk& hunk) {
  const auto is = [](Kind kind) { return [kind](const HunkLine& l) { return l.kind == kind; }; };
  auto& lines = hunk.lines;
  if (std::any_of(lines.begin(), lines.end(), is(Kind::kAdded)) || lines.empty()) return;
  const auto first = std::find_if(lines.begin(), lines.end(), is(Kind::kRemoved));
  const auto last = std::find_if(lines.rbegin(), lines.rend(), is(Kind::kRemoved)).base();
  if (first == lines.begin() && last != lines.end()) {
    HunkLine back = *last;
    last->kind = Kind::kRemoved;
    back.kind = Kind::kAdded;
    lines.insert(last + 1, back);
  } else if (last == lines.end() && first != lines.begin()) {
    HunkLine back = *(first - 1);
    (first - 1)->kind = Kind::kRemoved;
    back.kind = Kind::kAdded;
    lines.push_back(back);
  }
}

}  // namespace

std::optional<Hunk> draft_hunk(const TwoTexts& texts, std::span<const ChangeBlock> blocks,
                               const ContextRoom& room, ContextLines context) {
  size_t up = context.up;
  size_t down = context.down;
  size_t first = room.begin;
  for (size_t i = room.begin; i > room.lo && up > 0; --i) {
    if (is_blank(texts.before[i - 1])) continue;
    first = i - 1;
    --up;
  }
  size_t last = room.end;
  for (size_t i = room.end; i < room.hi && down > 0; ++i) {
    if (is_blank(texts.before[i])) continue;
    last = i + 1;
    --down;
  }
  const bool too_few =
      (up > 0 && context.up > context.least) || (down > 0 && context.down > context.least);
  if (too_few) return std::nullopt;
  Hunk hunk;
  size_t next = first;
  for (const ChangeBlock& c : blocks) {
    add(hunk, Kind::kContext, texts.before, next, c.before_begin);
    add(hunk, Kind::kRemoved, texts.before, c.before_begin, c.before_end);
    add(hunk, Kind::kAdded, texts.after, c.after_begin, c.after_end);
    next = c.before_end;
  }
  add(hunk, Kind::kContext, texts.before, next, last);
  if (room.end == texts.before.size() || room.begin == 0) frame_deletion(hunk);
  return hunk;
}

}  // namespace patcher
