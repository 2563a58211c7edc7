#include "patcher/hunk/rewrite.h"

#include <algorithm>
#include <set>

#include "patcher/hunk/hunk_unit.h"
#include "patcher/hunk/target_layout.h"
#include "patcher/hunk/token_edits.h"
#include "patcher/text/align.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;
constexpr float kPairThreshold = 0.5F;
// A second or two. Beyond, the lines of a block are replaced as a whole, as the patch has them.
constexpr uint64_t kMaxPairingCost = 250'000'000;

class Rewriter {
 public:
  Rewriter(const Source& source, const Hunk& hunk, const Side& before, const Match& match)
      : source_(source),
        hunk_(hunk),
        before_(before),
        after_(make_side(hunk, source.language(), Kind::kAdded)),
        old_units_(make_units(hunk, before, Kind::kRemoved)),
        new_units_(make_units(hunk, after_, Kind::kAdded)),
        overlay_(lay_over(source, before, old_units_, match)),
        land_(source, hunk, before, old_units_, overlay_) {}

  Rewrite run() {
    look_at_removed_trivia();
    if (!out_.absent_comment) {
      for (const UnitBlock& block : unit_blocks(hunk_, old_units_, new_units_))
        rewrite(block);
    }
    find_lost_comment();
    tidy_edits(source_.bytes(), out_.edits);
    return std::move(out_);
  }

 private:
  // --- what is given

  void look_at_removed_trivia() {
    for (size_t u = 0; u < old_units_.size(); ++u) {
      if (old_units_[u].kind != Kind::kRemoved) continue;
      if (old_units_[u].blank() && overlay_.unit[u]) ++out_.removed_trivia;
      for (size_t t : old_units_[u].elements) {
        if (!overlay_.token[t] && !out_.absent_comment) out_.absent_comment = t;
        if (before_.tokens[t].comment) ++out_.removed_trivia;
      }
    }
  }

  // --- one block

  void rewrite(const UnitBlock& block) {
    const auto score = [&](size_t i, size_t j) {
      const float s =
          similarity(before_, old_units_[block.removed[i]], after_, new_units_[block.added[j]]);
      return s >= kPairThreshold ? s : 0.0F;
    };
    IndexPairs pairs;
    if (pairing_cost(block) <= kMaxPairingCost) {
      pairs = best_alignment(block.removed.size(), block.added.size(), score);
    }
    pairs.emplace_back(block.removed.size(), block.added.size());
    size_t r = 0;
    size_t a = 0;
    for (const auto& [i, j] : pairs) {
      replace_run(block, {r, i}, {a, j});
      if (i < block.removed.size()) pair(block.removed[i], block.added[j]);
      r = i + 1;
      a = j + 1;
    }
  }

  // Each removed line is compared with each added one, token by token.
  uint64_t pairing_cost(const UnitBlock& block) const {
    uint64_t removed = 0;
    uint64_t added = 0;
    for (const size_t u : block.removed)
      removed += old_units_[u].elements.size();
    for (const size_t u : block.added)
      added += new_units_[u].elements.size();
    return removed * added;
  }

  using Span = std::pair<size_t, size_t>;

  void replace_run(const UnitBlock& block, Span removed, Span added) {
    std::vector<const Unit*> units;
    for (size_t a = added.first; a < added.second; ++a)
      units.push_back(&new_units_[block.added[a]]);
    std::optional<Extent> gone;
    for (size_t r = removed.first; r < removed.second; ++r)
      grow(gone, block.removed[r]);
    if (gone && !gone->ends_line) take_trailing_comments(*gone);
    if (gone && units.empty()) return erase(*gone);
    if (gone) return replace(*gone, block.removed[removed.first], units);
    if (!units.empty()) insert(units, insertion_point(block, removed.first, *units.front()));
  }

  void grow(std::optional<Extent>& all, size_t unit) const {
    const auto& e = overlay_.unit[unit];
    if (!e) return;
    if (!all) {
      all = e;
    } else {
      all->end = e->end;
      all->ends_line = e->ends_line;
      all->last_line = e->last_line;
    }
  }

  // A comment at the end of the last removed line would be an orphan: it goes with the line, and so
  // is lost unless the patch lists it.
  void take_trailing_comments(Extent& e) const {
    const uint32_t end = land_.after_trailing_comments(e.end);
    if (end == e.end) return;
    e.end = end;
    e.ends_line = true;
    e.last_line = source_.lines().line_of(end - 1);
  }

  void pair(size_t old_unit, size_t new_unit) {
    const Unit& before = old_units_[old_unit];
    const Unit& after = new_units_[new_unit];
    const auto& extent = overlay_.unit[old_unit];
    if (!extent) return;  // a blank line that the target does not have
    const Reindent shift = land_.pair_shift(old_unit, after);
    const uint32_t line = land_.line_begin(extent->begin);
    if (extent->whole_lines() && same_text(before, *extent, land_.own_shift(old_unit))) {
      const uint32_t begin = extent->begin - land_.indentation_before(extent->begin);
      add(begin, extent->end, render({&after}, shift, land_.line_end_near(extent->begin)));
      return;
    }
    for (ByteEdit& e : token_edits(source_, overlay_, before_, before, after_, after)) {
      add(e.begin, e.end, std::move(e.text));
    }
    if (extent->starts_line && leading_blanks(before.lines[0]) != leading_blanks(after.lines[0])) {
      const std::string line_text = shift(after.lines[0]);
      add(std::max(line, extent->begin - land_.indentation_before(extent->begin)), extent->begin,
          std::string(leading_blanks(line_text)));
    }
  }

  // Whether the target's lines are the unit's, once moved to their indentation.
  bool same_text(const Unit& unit, const Extent& extent, const Reindent& shift) const {
    const uint32_t begin = extent.begin - land_.indentation_before(extent.begin);
    std::string there(source_.bytes().substr(begin, extent.end - begin));
    std::erase(there, '\r');
    return there == render({&unit}, shift, "\n");
  }

  // --- edits

  void add(uint32_t begin, uint32_t end, std::string text) {
    out_.edits.push_back({begin, end, std::move(text)});
  }

  void erase(const Extent& e) {
    if (e.whole_lines()) return erase_lines(e);
    uint32_t begin = e.begin;
    uint32_t end = e.end;
    if (!e.starts_line) {
      while (land_.is_blank(begin - 1))
        --begin;
    } else {
      while (end < land_.size() && land_.is_blank(end))
        ++end;
    }
    add(begin, end, "");
  }

  void erase_lines(const Extent& e) {
    const Lines& lines = source_.lines();
    uint32_t begin = land_.content_begin(e.begin);
    const size_t last = e.last_line;
    const bool unended = lines.line_end(last).empty();
    const size_t first = lines.line_of(e.begin);
    if (unended && first > 0) begin = lines.text_end(first - 1);
    add(begin, lines.end(last), "");
  }

  void replace(const Extent& e, size_t old_unit, const std::vector<const Unit*>& units) {
    const Reindent shift = old_units_[old_unit].blank() || !overlay_.unit[old_unit]
                               ? land_.neighbour_shift(*units.front())
                               : land_.own_shift(old_unit);
    std::string text = render(units, shift, land_.line_end_near(e.begin));
    if (e.starts_line) return add(land_.content_begin(e.begin), e.end, std::move(text));
    add(e.begin, e.end, text.substr(leading_blanks(text).size()));
  }

  // The index of the old unit that follows the place of an added unit.
  size_t insertion_point(const UnitBlock& block, size_t removed, const Unit& added) const {
    if (removed < block.removed.size()) return block.removed[removed];
    if (!block.removed.empty()) return block.removed.back() + 1;
    size_t u = 0;
    while (u < old_units_.size() && old_units_[u].first_line < added.first_line)
      ++u;
    return u;
  }

  void insert(const std::vector<const Unit*>& units, size_t point) {
    const Reindent shift = land_.neighbour_shift(*units.front());
    if (const auto prev = land_.neighbour_before(point, units.front()->first_line)) {
      insert_after(*prev, units, shift);
    } else if (const auto next = land_.neighbour_after(point)) {
      insert_before(*next, units, shift);
    }
  }

  void insert_after(size_t old_unit, const std::vector<const Unit*>& units, const Reindent& shift) {
    const Lines& lines = source_.lines();
    const uint32_t end = land_.after_trailing_comments(overlay_.unit[old_unit]->end);
    const size_t l = lines.line_of(end > 0 ? end - 1 : 0);
    const size_t line = old_units_[old_unit].blank() ? lines.line_of(end) : l;
    if (!land_.rest_is_white(end, lines.text_end(line))) return insert_inline(end, units, shift);
    const std::string eol = land_.line_end_near(lines.begin(line));
    const std::string text = render(units, shift, eol);
    if (lines.line_end(line).empty()) return add(lines.end(line), lines.end(line), eol + text);
    add(lines.end(line), lines.end(line), text + eol);
  }

  void insert_before(size_t old_unit, const std::vector<const Unit*>& units,
                     const Reindent& shift) {
    const Extent& e = *overlay_.unit[old_unit];
    const std::string eol = land_.line_end_near(e.begin);
    std::string text = render(units, shift, eol);
    if (e.starts_line) {
      const uint32_t begin = land_.content_begin(e.begin);
      return add(begin, begin, text + eol);
    }
    text = text.substr(leading_blanks(text).size());
    add(e.begin, e.begin, text + (fits_inline(units) ? " " : eol));
  }

  // After a token in the middle of a line: on the same line if it is short and safe to do so.
  void insert_inline(uint32_t at, const std::vector<const Unit*>& units, const Reindent& shift) {
    const std::string eol = land_.line_end_near(at);
    const std::string text = render(units, shift, eol);
    if (fits_inline(units)) return add(at, at, " " + text.substr(leading_blanks(text).size()));
    uint32_t rest = at;
    while (rest < land_.size() && land_.is_blank(rest))
      ++rest;
    const std::string_view indentation =
        source_.lines().indentation(source_.lines().line_of(at > 0 ? at - 1 : 0));
    add(at, rest, eol + text + eol + std::string(indentation));
  }

  bool fits_inline(const std::vector<const Unit*>& units) const {
    if (units.size() != 1 || units[0]->lines.size() != 1) return false;
    return std::none_of(units[0]->elements.begin(), units[0]->elements.end(), [&](size_t t) {
      return after_.tokens[t].directive || after_.token_text(t).starts_with("//");
    });
  }

  static std::string render(const std::vector<const Unit*>& units, const Reindent& shift,
                            const std::string& eol) {
    std::string out;
    for (const Unit* unit : units) {
      for (size_t i = 0; i < unit->lines.size(); ++i) {
        if (unit != units.front() || i > 0) out += eol;
        out += i > 0 && unit->verbatim_tail ? unit->lines[i] : shift(unit->lines[i]);
      }
    }
    return out;
  }

  // --- comments

  void find_lost_comment() {
    std::set<uint32_t> listed;
    for (const Unit& unit : old_units_) {
      for (size_t t : unit.elements) {
        if (unit.kind == Kind::kRemoved && overlay_.token[t]) listed.insert(*overlay_.token[t]);
      }
    }
    const auto& tokens = source_.tokens();
    for (const ByteEdit& edit : out_.edits) {
      auto t = std::partition_point(tokens.begin(), tokens.end(),
                                    [&](const Token& token) { return token.end <= edit.begin; });
      for (; t != tokens.end() && t->begin < edit.end; ++t) {
        const bool lost = t->comment && !listed.contains(static_cast<uint32_t>(t - tokens.begin()));
        if (lost && (!out_.lost_comment || t->begin < *out_.lost_comment))
          out_.lost_comment = t->begin;
      }
    }
  }

  const Source& source_;
  const Hunk& hunk_;
  const Side& before_;
  const Side after_;
  const std::vector<Unit> old_units_;
  const std::vector<Unit> new_units_;
  const Overlay overlay_;
  const TargetLayout land_;
  Rewrite out_;
};

}  // namespace

Rewrite rewrite_hunk(const Source& source, const Hunk& hunk, const Side& before,
                     const Match& match) {
  return Rewriter(source, hunk, before, match).run();
}

}  // namespace patcher
