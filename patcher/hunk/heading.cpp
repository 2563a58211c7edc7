#include "patcher/hunk/heading.h"

#include <algorithm>
#include <cctype>

namespace patcher {
namespace {

// Diff tools cut the heading, so that it is a beginning.
bool begins_with(std::string_view line, const std::string& heading) {
  return !heading.empty() && squeeze(line).starts_with(heading);
}

bool looks_like_a_function(std::string_view line) {
  const auto c = static_cast<unsigned char>(line.empty() ? ' ' : line.front());
  return std::isalpha(c) != 0 || c == '_' || c == '$';
}

// Where the first changed line of the hunk is in the target.
uint32_t first_change(const Source& source, const Hunk& hunk, const Side& side,
                      const Match& match) {
  const auto changed = std::find_if(hunk.lines.begin(), hunk.lines.end(), [](const HunkLine& l) {
    return l.kind == HunkLine::Kind::kRemoved || l.kind == HunkLine::Kind::kAdded;
  });
  const auto line = static_cast<size_t>(changed - hunk.lines.begin());
  size_t at = 0;  // the last token before it, or the first of its own
  for (size_t i = 0; i < side.code.size(); ++i) {
    if (side.first_line[side.code[i]] > line) break;
    at = i;
    if (side.first_line[side.code[i]] == line) break;
  }
  const Token& token = source.tokens()[source.code()[match.code[at]]];
  return side.first_line[side.code[at]] < line ? token.end - 1 : token.begin;
}

// A line that looks like a function's first and is a place to jump to, or an access specifier.
bool is_label(std::string_view line) {
  return line.ends_with(':') && std::all_of(line.begin(), line.end() - 1, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_';
         });
}

}  // namespace

std::vector<CodeRange> ranges_under_heading(const Source& source, const std::string& text) {
  const std::string heading = squeeze(text);
  const Lines& lines = source.lines();
  std::vector<CodeRange> out;
  for (size_t l = 0; l < lines.count(); ++l) {
    if (!begins_with(lines.text(l), heading)) continue;
    size_t end = l + 1;
    while (end < lines.count() &&
           (!looks_like_a_function(lines.text(end)) || is_label(lines.text(end))))
      ++end;
    uint32_t last = lines.end(end - 1);
    for (const Scope& scope : source.scopes()) {
      if (lines.line_of(scope.begin) == l) last = std::max(last, scope.end);
    }
    out.push_back(code_range(source, lines.begin(l), last));
  }
  return out;
}

bool heading_is_nearest(const Source& source, const Hunk& hunk, uint32_t begin) {
  const std::string heading = squeeze(hunk.heading);
  const Lines& lines = source.lines();
  for (size_t l = lines.line_of(begin); l > 0; --l) {
    const std::string_view line = lines.text(l - 1);
    if (begins_with(line, heading)) return true;
    if (looks_like_a_function(line) && !is_label(line)) return false;
  }
  return false;
}

bool under_heading(const Source& source, const Hunk& hunk, uint32_t begin, uint32_t change) {
  const std::string heading = squeeze(hunk.heading);
  const Lines& lines = source.lines();
  bool inside = false;
  for (const Scope& scope : source.scopes()) {
    if (scope.kind != Scope::Kind::kFunction && scope.kind != Scope::Kind::kType) continue;
    if (scope.begin > change || change + 1 >= scope.end) continue;
    // What encloses the change and begins in the hunk is named by the hunk's own lines.
    inside = scope.begin < begin;
    if (inside && begins_with(lines.text(lines.line_of(scope.begin)), heading)) return true;
  }
  return !inside || heading_is_nearest(source, hunk, begin);
}

bool under_heading(const Source& source, const Hunk& hunk, const Side& side, const Match& match) {
  return under_heading(source, hunk, match_bytes(source, match).first,
                       first_change(source, hunk, side, match));
}

}  // namespace patcher
