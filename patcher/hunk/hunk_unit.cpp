#include "patcher/hunk/hunk_unit.h"

#include <algorithm>

#include "patcher/text/align.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;

bool is_white(std::string_view text) {
  return without_bom(text).find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

// What a line without a token holds besides blanks: nothing, or the backslash of a macro that goes
// on.
std::string_view bare(std::string_view line) {
  return trim(line, " \t\r\v\f");
}

// A comment or a line without a token between two code tokens.
struct Trivium {
  bool blank = false;
  size_t index = 0;       // comment: token; blank: unit (anchor) or line (target)
  std::string text = {};  // without blanks, or bare
  bool stays = false;     // of the anchor: context; where there are too few, context has them first
};

bool same_trivium(const Trivium& a, const Trivium& b) {
  return a.blank == b.blank && a.text == b.text;
}

class Overlayer {
 public:
  Overlayer(const Source& source, const Side& side, const std::vector<Unit>& units,
            const Match& match)
      : source_(source), side_(side), units_(units), match_(match) {}

  Overlay run() {
    out_.token.resize(side_.tokens.size());
    out_.unit.resize(units_.size());
    blank_line_.resize(units_.size());
    for (size_t i = 0; i < side_.code.size(); ++i) {
      out_.token[side_.code[i]] = source_.code()[match_.code[i]];
    }
    align_gaps();
    for (size_t u = 0; u < units_.size(); ++u)
      out_.unit[u] = extent(u);
    return std::move(out_);
  }

 private:
  // The anchor's trivia, each after `after` code tokens; a skip puts a wall between two lists.
  void align_gaps() {
    std::vector<Trivium> gap;
    size_t code = 0;
    size_t last_line = 0;
    bool after_skip = false;
    for (size_t u = 0; u < units_.size(); ++u) {
      if (u > 0 && separated(last_line, units_[u].first_line)) {
        align_gap(gap, code, /*leading=*/false, /*trailing=*/true);
        after_skip = true;
      }
      last_line = units_[u].last_line;
      const bool stays = units_[u].kind == Kind::kContext;
      if (units_[u].blank()) {
        const std::string text(bare(units_[u].lines.front()));
        gap.push_back({.blank = true, .index = u, .text = text, .stays = stays});
      }
      for (size_t t : units_[u].elements) {
        if (side_.tokens[t].comment) {
          gap.push_back({.index = t, .text = without_blanks(side_.token_text(t)), .stays = stays});
          continue;
        }
        align_gap(gap, code, after_skip || code == 0, false);
        after_skip = false;
        ++code;
      }
    }
    align_gap(gap, code, false, true);
  }

  // Whether a `...` lies between two hunk lines of this side.
  bool separated(size_t before, size_t after) const {
    return std::any_of(skips().begin(), skips().end(),
                       [&](size_t line) { return before < line && line < after; });
  }
  const std::vector<size_t>& skips() const { return side_.skip_lines; }

  // Aligns and clears `gap`, which lies before code token `code` of the anchor (leading: there is
  // no anchor token right before it; trailing: none right after it).
  void align_gap(std::vector<Trivium>& gap, size_t code, bool leading, bool trailing) {
    if (gap.empty()) return;
    const auto& all = source_.tokens();
    const auto& target_code = source_.code();
    const size_t after = trailing ? match_.code[code - 1] + 1 : match_.code[code];
    const size_t first = after == 0 ? 0 : target_code[after - 1] + 1;
    const size_t last = after < target_code.size() ? target_code[after] : all.size();
    const std::vector<Trivium> target = target_trivia(first, last);
    const auto score = [&](size_t i, size_t j) {
      if (!same_trivium(gap[i], target[j])) return 0.0F;
      return (gap[i].blank ? 1.0F : 1.5F) + (gap[i].stays ? 0.1F : 0.0F);
    };
    for (const auto& [i, j] : best_alignment(gap.size(), target.size(), score, leading)) {
      if (gap[i].blank) {
        blank_line_[gap[i].index] = target[j].index;
      } else {
        out_.token[gap[i].index] = static_cast<uint32_t>(target[j].index);
      }
    }
    gap.clear();
  }

  // Comments with token index in [first, last) and the blank lines around them.
  std::vector<Trivium> target_trivia(size_t first, size_t last) const {
    const auto& all = source_.tokens();
    std::vector<Trivium> out;
    uint32_t pos = first == 0 ? 0 : all[first - 1].end;
    for (size_t t = first; t < last; ++t) {
      add_blank_lines(pos, all[t].begin, out);
      out.push_back({.index = t, .text = without_blanks(all[t].text(source_.bytes()))});
      pos = all[t].end;
    }
    const auto size = static_cast<uint32_t>(source_.bytes().size());
    add_blank_lines(pos, last < all.size() ? all[last].begin : size, out);
    return out;
  }

  void add_blank_lines(uint32_t begin, uint32_t end, std::vector<Trivium>& out) const {
    const Lines& lines = source_.lines();
    for (size_t l = lines.line_of(begin); l < lines.count() && lines.begin(l) < end; ++l) {
      const bool inside = lines.begin(l) >= begin && lines.text_end(l) <= end;
      const std::string_view text = bare(lines.text(l));
      if (inside && (text.empty() || text == "\\") && !lines.line_end(l).empty()) {
        out.push_back({.blank = true, .index = l, .text = std::string(text)});
      }
    }
  }

  std::optional<Extent> extent(size_t u) const {
    const Lines& lines = source_.lines();
    if (units_[u].blank()) {
      if (!blank_line_[u]) return std::nullopt;
      const size_t line = *blank_line_[u];
      return Extent{lines.begin(line), lines.text_end(line), true, true, line};
    }
    std::optional<Extent> out;
    for (size_t t : units_[u].elements) {
      if (!out_.token[t]) continue;
      const Token& token = source_.tokens()[*out_.token[t]];
      if (!out) out = Extent{.begin = token.begin, .end = token.end};
      out->begin = std::min(out->begin, token.begin);
      out->end = std::max(out->end, token.end);
    }
    if (out) take_tail(*out, units_[u]);
    if (out) measure(*out);
    return out;
  }

  // Blanks, and the backslash of a line that goes on, at the end of its last line are the unit's
  // where the target has the same there.
  void take_tail(Extent& e, const Unit& unit) const {
    const std::string_view line = unit.lines.back();
    const std::string_view tail = line.substr(line.find_last_not_of(" \t\\") + 1);
    const uint32_t end = source_.lines().text_end(source_.lines().line_of(e.end - 1));
    const auto there = std::string_view(source_.bytes()).substr(e.end, end - e.end);
    if (there == tail) e.end = end;
  }

  void measure(Extent& e) const {
    const Lines& lines = source_.lines();
    const std::string_view bytes = source_.bytes();
    const uint32_t begin = lines.begin(lines.line_of(e.begin));
    e.last_line = lines.line_of(e.end - 1);
    const uint32_t end = lines.text_end(e.last_line);
    e.starts_line = is_white(bytes.substr(begin, e.begin - begin));
    e.ends_line = end <= e.end || is_white(bytes.substr(e.end, end - e.end));
  }

  const Source& source_;
  const Side& side_;
  const std::vector<Unit>& units_;
  const Match& match_;
  Overlay out_;
  std::vector<std::optional<size_t>> blank_line_;
};

// The unit that begins at a hunk line, from `next` on; `next` moves there.
std::optional<size_t> unit_at(const std::vector<Unit>& units, size_t line, size_t& next) {
  while (next < units.size() && units[next].first_line < line)
    ++next;
  if (next < units.size() && units[next].first_line == line) return next;
  return std::nullopt;
}

}  // namespace

std::vector<Unit> make_units(const Hunk& hunk, const Side& side, Kind changed) {
  std::vector<Unit> units;
  size_t t = 0;
  for (size_t i = 0; i < hunk.lines.size(); ++i) {
    if (hunk.lines[i].kind != changed && hunk.lines[i].kind != Kind::kContext) continue;
    Unit unit{.first_line = i, .last_line = i, .kind = hunk.lines[i].kind};
    for (; t < side.tokens.size() && side.first_line[t] <= unit.last_line; ++t) {
      unit.elements.push_back(t);
      if (side.last_line[t] > unit.last_line) unit.verbatim_tail |= !side.tokens[t].comment;
      unit.last_line = std::max(unit.last_line, side.last_line[t]);
    }
    for (; i <= unit.last_line; ++i) {
      const Kind kind = hunk.lines[i].kind;
      if (kind == changed || kind == Kind::kContext) unit.lines.push_back(hunk.lines[i].text);
    }
    --i;
    units.push_back(std::move(unit));
  }
  return units;
}

std::vector<UnitBlock> unit_blocks(const Hunk& hunk, const std::vector<Unit>& old_units,
                                   const std::vector<Unit>& new_units) {
  std::vector<UnitBlock> out;
  size_t old_next = 0;
  size_t new_next = 0;
  bool open = false;
  for (size_t i = 0; i < hunk.lines.size(); ++i) {
    const Kind kind = hunk.lines[i].kind;
    const bool changed = kind == Kind::kRemoved || kind == Kind::kAdded;
    if (changed && !open) out.emplace_back();
    open = changed;
    const auto removed = unit_at(old_units, i, old_next);
    const auto added = unit_at(new_units, i, new_next);
    if (removed && kind == Kind::kRemoved) out.back().removed.push_back(*removed);
    if (added && kind == Kind::kAdded) out.back().added.push_back(*added);
  }
  return out;
}

Overlay lay_over(const Source& source, const Side& side, const std::vector<Unit>& units,
                 const Match& match) {
  return Overlayer(source, side, units, match).run();
}

}  // namespace patcher
