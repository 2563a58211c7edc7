#include "patcher/carry/outline.h"

#include <algorithm>
#include <string_view>

#include "patcher/text/lines.h"

namespace patcher {
namespace {

constexpr size_t kTabColumns = 8;

}  // namespace

size_t columns(std::string_view line) {
  size_t out = 0;
  for (const char c : line) {
    if (c != ' ' && c != '\t') break;
    out = c == '\t' ? (out / kTabColumns + 1) * kTabColumns : out + 1;
  }
  return out;
}

Outline::Outline(const TokenIndex& file) : file_(file) {
  read_rows();
  find_parents();
}

void Outline::read_rows() {
  const Lines& lines = file_.source().lines();
  const std::string_view bytes = file_.source().bytes();
  size_t last_line = 0;  // of the row before
  for (size_t i = 0; i < file_.size(); ++i) {
    const size_t line = file_.line_of(i);
    if (!rows_.empty() && line <= last_line) {
      rows_.back().tokens.end = i + 1;
      last_line = std::max(last_line, file_.last_line_of(i));
      continue;
    }
    Row row{.tokens = {i, i + 1}, .indent = columns(lines.text(line))};
    for (size_t l = last_line + 1; l < line && !rows_.empty(); ++l)
      row.gap = row.gap || is_blank(lines.text(l));
    const std::string_view text = file_.token(i).text(bytes);
    row.closes = text == "}" || text == ")" || text == "]";
    row.directive = file_.token(i).directive;
    rows_.push_back(row);
    last_line = file_.last_line_of(i);
  }
}

void Outline::find_parents() {
  std::vector<size_t> open;
  for (size_t r = 0; r < rows_.size(); ++r) {
    Row& row = rows_[r];
    if (row.directive) continue;
    while (!open.empty() && rows_[open.back()].indent >= row.indent)
      open.pop_back();
    row.parent = open.empty() ? kNone : open.back();
    children_[row.parent].push_back(r);
    open.push_back(r);
  }
}

size_t Outline::row_of(size_t token) const {
  const auto behind =
      std::upper_bound(rows_.begin(), rows_.end(), token,
                       [](size_t t, const Row& row) { return t < row.tokens.begin; });
  return static_cast<size_t>(behind - rows_.begin()) - 1;
}

// The row whose parts hold the tokens; of an empty place, the one before or behind it.
size_t Outline::row_at(size_t begin, size_t end, const Edge& edge) const {
  if (begin < end) return row_of(begin);
  if (begin == 0) return 0;
  const size_t before = row_of(begin - 1);
  if (begin >= file_.size()) return before;
  const size_t behind = row_of(begin);
  const bool first = rows_[behind].indent > rows_[before].indent || (edge.behind && !edge.before);
  return first && !rows_[behind].directive ? behind : before;
}

std::pair<size_t, size_t> Outline::indents_around(size_t begin) const {
  const size_t before = begin > 0 ? rows_[row_of(begin - 1)].indent : 0;
  return {before, begin < file_.size() ? rows_[row_of(begin)].indent : 0};
}

size_t Outline::indent_as(size_t begin, size_t indent, const Outline& other, size_t there) const {
  if (rows_.empty() || other.rows_.empty()) return indent;
  const auto [before, behind] = indents_around(begin);
  const auto [other_before, other_behind] = other.indents_around(there);
  if (other_before == indent) return before;
  if (other_behind == indent) return behind;
  return other_before < indent ? before + (indent - other_before)
                               : before - std::min(before, other_before - indent);
}

// Whether a row can be the begin of the head that the next one goes on with.
bool Outline::ends_open(const Row& row) const {
  const std::string_view text = file_.token(row.tokens.end - 1).text(file_.source().bytes());
  return text != ";" && text != "}" && text != "," && text != ":" && text != "{";
}

bool Outline::holds_more(size_t row) const {
  return row + 1 < rows_.size() && !rows_[row + 1].directive &&
         rows_[row + 1].indent > rows_[row].indent;
}

Part Outline::unit(size_t row) const {
  size_t first = row;
  const bool heads = file_.source().language() != Language::kLines && holds_more(row);
  while (heads && first > 0 && !rows_[first].gap) {
    const Row& before = rows_[first - 1];
    if (before.directive || before.closes || before.indent != rows_[row].indent) break;
    if (!ends_open(before)) break;
    --first;
  }
  size_t last = row + 1;
  while (last < rows_.size() && (rows_[last].directive || rows_[last].indent > rows_[row].indent))
    ++last;
  while (last > row + 1 && rows_[last - 1].directive)
    --last;
  const bool closed = last < rows_.size() && rows_[last].closes &&
                      rows_[last].indent == rows_[row].indent && !holds_more(last);
  if (closed) ++last;
  return {rows_[first].tokens.begin, rows_[last - 1].tokens.end};
}

Part Outline::paragraph(size_t row) const {
  const auto inside = [&](size_t r) {
    return !rows_[r].directive && rows_[r].indent >= rows_[row].indent;
  };
  size_t first = row;
  while (first > 0 && !rows_[first].gap && inside(first - 1))
    --first;
  size_t last = row + 1;
  while (last < rows_.size() && !rows_[last].gap && inside(last))
    ++last;
  return {rows_[first].tokens.begin, rows_[last - 1].tokens.end};
}

std::vector<Part> Outline::units_beside(size_t row, const Part& own) const {
  std::vector<Part> out;
  for (const size_t r : children_.at(rows_[row].parent)) {
    if (rows_[r].closes || rows_[r].indent != rows_[row].indent) continue;
    const Part one = unit(r);
    if (one == own || (own.begin <= one.begin && one.end <= own.end)) continue;
    if (!out.empty() && one.begin < out.back().end) out.pop_back();  // it was a part of a head
    out.push_back(one);
  }
  return out;
}

std::vector<Part> Outline::paragraphs_beside(size_t row, const Part& own) const {
  std::vector<Part> out;
  for (const size_t r : children_.at(rows_[row].parent)) {
    const Part one = paragraph(r);
    if (one != own && (out.empty() || one != out.back())) out.push_back(one);
  }
  return out;
}

std::vector<Outline::Level> Outline::around(size_t begin, size_t end, const Edge& edge,
                                            Part within) const {
  std::vector<Level> out;
  if (rows_.empty()) return out;
  size_t row = row_at(begin, end, edge);
  if (rows_[row].directive) return out;
  const auto holds = [&](const Part& p, bool paragraph) {
    if (begin < end) return p.begin <= begin && end <= p.end;
    if (p.begin < begin && begin < p.end) return true;
    // What is less deep than a row is in no paragraph of its.
    const bool in_paragraph = paragraph && edge.indent >= rows_[row].indent;
    if (p.end == begin)
      return paragraph ? edge.before && in_paragraph : edge.indent > rows_[row].indent;
    return p.begin == begin && edge.behind && in_paragraph;
  };
  const auto inside = [&](const Part& p) {
    return within.begin <= p.begin && p.end <= within.end && p != within;
  };
  const auto add = [&](const Part& p, bool paragraph, std::vector<Part> siblings) {
    if (!holds(p, paragraph) || !inside(p) || (!out.empty() && out.back().part == p)) return;
    std::erase_if(siblings, [&](const Part& s) { return !inside(s); });
    out.push_back({p, paragraph, std::move(siblings)});
  };
  for (bool leaf = begin < end;; leaf = false) {
    const Part own = unit(row);
    if (!leaf) add(own, false, units_beside(row, own));
    const Part lines = paragraph(row);
    if (begin == end || lines.end - lines.begin > own.end - own.begin) {
      add(lines, true, paragraphs_beside(row, lines));
    }
    if (rows_[row].parent == kNone) return out;
    row = rows_[row].parent;
  }
}

}  // namespace patcher
