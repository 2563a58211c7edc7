#include "patcher/hunk/target_layout.h"

#include <algorithm>

namespace patcher {
namespace {

using Kind = HunkLine::Kind;

}  // namespace

TargetLayout::TargetLayout(const Source& source, const Hunk& hunk, const Side& before,
                           const std::vector<Unit>& old_units, const Overlay& overlay)
    : source_(source), hunk_(hunk), before_(before), old_units_(old_units), overlay_(overlay) {
  read_styles();
}

void TargetLayout::read_styles() {
  IndentSurvey patch;
  for (const HunkLine& line : hunk_.lines) {
    if (shows_level(line.text)) patch.add(leading_blanks(line.text));
  }
  patch_style_ = patch.style({});
  const IndentSurvey& target = source_.indentation();
  target_style_ = target.style(patch_style_);
  // Without a grammar blanks may mean something: a makefile has its tabs.
  styles_differ_ = !hunk_.foreign && source_.language() != Language::kLines &&
                   styles_differ(patch, patch_style_, target, target_style_);
}

std::optional<size_t> TargetLayout::neighbour_before(size_t point, size_t line) const {
  for (size_t u = point; u-- > 0;) {
    if (skip_between(old_units_[u].last_line, line)) return std::nullopt;
    if (overlay_.unit[u]) return u;
  }
  return std::nullopt;
}

std::optional<size_t> TargetLayout::neighbour_after(size_t point) const {
  for (size_t u = point; u < old_units_.size(); ++u) {
    if (overlay_.unit[u]) return u;
  }
  return std::nullopt;
}

bool TargetLayout::skip_between(size_t first, size_t last) const {
  return std::any_of(before_.skip_lines.begin(), before_.skip_lines.end(),
                     [&](size_t l) { return first < l && l < last; });
}

Reindent TargetLayout::own_shift(size_t old_unit) const {
  const Extent& e = *overlay_.unit[old_unit];
  const size_t line = source_.lines().line_of(e.begin);
  return {.from = std::string(leading_blanks(old_units_[old_unit].lines[0])),
          .to = std::string(source_.lines().indentation(line)),
          .patch_style = patch_style_,
          .target_style = target_style_,
          .restyle = styles_differ_};
}

Reindent TargetLayout::pair_shift(size_t old_unit, const Unit& after) const {
  const Unit& before = old_units_[old_unit];
  if (leading_blanks(before.lines[0]) == leading_blanks(after.lines[0])) {
    return own_shift(old_unit);
  }
  std::optional<size_t> best;
  for (size_t u = 0; u < old_units_.size(); ++u) {
    const auto& e = overlay_.unit[u];
    const bool steady = old_units_[u].kind == Kind::kContext && !old_units_[u].blank();
    if (!steady || !e || !e->starts_line) continue;
    if (!best || rank(u, before) < rank(*best, before)) best = u;
  }
  return own_shift(best.value_or(old_unit));
}

Reindent TargetLayout::neighbour_shift(const Unit& unit) const {
  std::optional<size_t> best;
  for (size_t u = 0; u < old_units_.size(); ++u) {
    const auto& e = overlay_.unit[u];
    if (!e || !e->starts_line || old_units_[u].blank()) continue;
    if (!best || rank(u, unit) < rank(*best, unit)) best = u;
  }
  if (best) return own_shift(*best);
  return {.from = "",
          .to = "",
          .patch_style = patch_style_,
          .target_style = target_style_,
          .restyle = styles_differ_};
}

std::pair<bool, size_t> TargetLayout::rank(size_t old_unit, const Unit& unit) const {
  const Unit& u = old_units_[old_unit];
  const bool other = leading_blanks(u.lines[0]) != leading_blanks(unit.lines[0]);
  const size_t a = u.first_line;
  const size_t b = unit.first_line;
  return {other, a < b ? 2 * (b - a) : 2 * (a - b) + 1};
}

std::string TargetLayout::line_end_near(uint32_t byte) const {
  const Lines& lines = source_.lines();
  for (size_t l = lines.line_of(byte) + 1; l-- > 0;) {
    if (!lines.line_end(l).empty()) return std::string(lines.line_end(l));
  }
  return "\n";
}

uint32_t TargetLayout::after_trailing_comments(uint32_t end) const {
  const auto& tokens = source_.tokens();
  auto next = std::partition_point(tokens.begin(), tokens.end(),
                                   [&](const Token& token) { return token.begin < end; });
  for (; next != tokens.end(); ++next) {
    const Token& token = *next;
    const auto gap = std::string_view(source_.bytes()).substr(end, token.begin - end);
    if (!token.comment || gap.find('\n') != std::string_view::npos) break;
    const size_t line = source_.lines().line_of(token.end - 1);
    if (!rest_is_white(token.end, source_.lines().text_end(line))) break;
    end = token.end;
  }
  return end;
}

bool TargetLayout::rest_is_white(uint32_t begin, uint32_t end) const {
  return begin >= end ||
         source_.bytes().substr(begin, end - begin).find_first_not_of(" \t\r") == std::string::npos;
}

uint32_t TargetLayout::size() const {
  return static_cast<uint32_t>(source_.bytes().size());
}

bool TargetLayout::is_blank(uint32_t i) const {
  return i < size() && (source_.bytes()[i] == ' ' || source_.bytes()[i] == '\t');
}

uint32_t TargetLayout::line_begin(uint32_t byte) const {
  return source_.lines().begin(source_.lines().line_of(byte));
}

uint32_t TargetLayout::content_begin(uint32_t byte) const {
  const uint32_t begin = line_begin(byte);
  const bool bom = begin == 0 && source_.bytes().starts_with("\xEF\xBB\xBF");
  return bom ? std::min<uint32_t>(3, byte) : begin;
}

uint32_t TargetLayout::indentation_before(uint32_t byte) const {
  return byte - content_begin(byte);
}

}  // namespace patcher
