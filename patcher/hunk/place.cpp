#include "patcher/hunk/place.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "patcher/hunk/heading.h"
#include "patcher/hunk/rewrite.h"
#include "patcher/hunk/scope_ranges.h"
#include "patcher/hunk/verbatim.h"
#include "patcher/syntax/health.h"

namespace patcher {
namespace {

using Why = Unplaced::Why;

class Placer {
 public:
  Placer(const Source& source, const Hunk& hunk, ScopeRule rule, uint64_t steps)
      : source_(source),
        written_(hunk),
        hunk_(whole_tokens(hunk, source.language())),
        rule_(rule),
        side_(make_side(hunk_, source.language(), HunkLine::Kind::kRemoved)),
        steps_(steps) {}

  Placement run() {
    if (written_.foreign && source_.bad_bytes().empty()) {
      const auto line = verbatim_line();
      if (line) at_line(*line);
      if (line || out_.failure) return std::move(out_);
    }
    if (const auto match = find()) at(*match);
    return std::move(out_);
  }

 private:
  // --- by lines

  // Where the old lines stand, if that is one place. Of several it is the one under the heading; or
  // the one at the line that the diff names in the file that it was taken from; in any other,
  // that line is a chance.
  std::optional<size_t> verbatim_line() {
    std::vector<size_t> places = verbatim_places(source_, written_);
    const auto stated = std::find_if(places.begin(), places.end(),
                                     [&](size_t l) { return at_stated_line(written_, l); });
    if (stated != places.end()) {
      const bool told = places.size() == 1 || is_of_base(source_, written_);
      if (told) {
        out_.evidence.stated = true;
        return *stated;
      }
    }
    if (places.size() > 1 && !written_.heading.empty()) {
      std::erase_if(places, [&](size_t l) { return !heading_is_nearest(l); });
    }
    if (places.size() > 1) return not_once(places);
    if (places.empty() || !fits_heading(places.front()) || !is_only(places.front())) {
      if (written_.changes_line_ends) fail(Why::kLineEnds);
      return std::nullopt;
    }
    return places.front();
  }

  bool heading_is_nearest(size_t line) const {
    return patcher::heading_is_nearest(source_, written_, source_.lines().begin(line));
  }

  // In code that does not parse only the lines say which function a place is in.
  bool fits_heading(size_t line) const {
    if (written_.heading.empty() || rule_ == ScopeRule::kUndo) return true;
    if (heading_is_nearest(line)) return true;
    const auto [begin, end] = verbatim_bytes(source_, written_, line);
    return source_.unreadable().empty() && !damage_at(source_, begin, end) &&
           under_heading(source_, written_, begin, verbatim_change(source_, written_, line));
  }

  // Whether the tokens are nowhere else where the hunk may be: what was reformatted may be meant.
  bool is_only(size_t line) {
    if (side_.code.empty()) return true;
    const auto [begin, end] = verbatim_bytes(source_, written_, line);
    for (const Match& m : search({whole_file(source_)})) {
      const uint32_t at = match_bytes(source_, m).first;
      if (at < begin || at >= end) return false;
    }
    return true;
  }

  std::nullopt_t not_once(const std::vector<size_t>& places) {
    std::vector<uint32_t> sites;
    sites.reserve(places.size());
    for (const size_t l : places)
      sites.push_back(source_.lines().begin(l));
    const uint32_t first = sites.front();
    return fail(Why::kNotOnce, first, std::move(sites));
  }

  void at_line(size_t line) {
    std::tie(out_.begin, out_.end) = verbatim_bytes(source_, written_, line);
    out_.damaged = source_.unreadable().empty() && damage_at(source_, out_.begin, out_.end);
    out_.evidence.verbatim = true;
    out_.evidence.code = side_.code.size();
    out_.edits = verbatim_edits(source_, written_, line);
  }

  // --- by tokens

  std::nullopt_t fail(Why why, uint32_t byte = 0, std::vector<uint32_t> sites = {}) {
    out_.failure = Unplaced{.why = why, .byte = byte, .sites = std::move(sites)};
    return std::nullopt;
  }

  void at(const Match& match) {
    if (!source_.unreadable().empty()) {
      fail(Why::kUnreadable);
      return;
    }
    std::tie(out_.begin, out_.end) = match_bytes(source_, match);
    out_.damaged = damage_at(source_, out_.begin, out_.end).has_value();
    if (out_.damaged && !is_told_by_tokens()) {
      fail(Why::kDamaged, out_.begin);
      out_.failure->end = out_.end;
    } else {
      rewrite(match);
    }
  }

  // Where the grammar cannot say what a place is in, it is the only one of the whole file.
  bool is_told_by_tokens() {
    if (hunk_.scope.file && hunk_.conditional.empty() && hunk_.heading.empty()) return true;
    return find_matches(source_, side_, {whole_file(source_)}, Compare::kExact, &steps_).size() ==
               1 &&
           steps_ > 0;
  }

  std::optional<Match> find() {
    const bool by_syntax = !hunk_.scope.file || !hunk_.heading.empty();
    if (!(by_syntax ? source_.unreadable() : source_.bad_bytes()).empty())
      return fail(Why::kUnreadable);
    if (side_.code.empty()) return fail(Why::kNoToken);
    auto ranges = scope_ranges(source_, hunk_, rule_, out_.failure);
    if (!ranges) return std::nullopt;
    ranges_ = std::move(*ranges);
    std::vector<Match> matches = search(ranges_);
    if (matches.empty() && rule_ == ScopeRule::kUndo && !hunk_.scope.file) {
      matches = search({whole_file(source_)});
    }
    if (steps_ == 0) return fail(Why::kBeyondBudget);
    return choose(matches);
  }

  std::vector<Match> search(const std::vector<CodeRange>& ranges) {
    std::vector<Match> matches = find_matches(source_, side_, ranges, Compare::kExact, &steps_);
    if (!hunk_.conditional.empty()) {
      std::erase_if(matches, [&](const Match& m) {
        return !in_branch(source_, hunk_, match_bytes(source_, m).first);
      });
    }
    std::erase_if(matches, [&](const Match& m) { return !at_its_indentation(m); });
    if (rule_ == ScopeRule::kUndo) return matches;
    if (!hunk_.heading.empty()) {
      std::erase_if(matches,
                    [&](const Match& m) { return !under_heading(source_, hunk_, side_, m); });
    }
    std::erase_if(matches, [&](const Match& m) { return !at_its_edge(m); });
    return matches;
  }

  bool at_its_edge(const Match& m) const {
    if (m.code.empty()) return true;
    return !(hunk_.at_begin && m.code.front() != 0) &&
           !(hunk_.at_end && m.code.back() + 1 != source_.code().size());
  }

  std::optional<Match> choose(const std::vector<Match>& matches) {
    if (matches.empty()) return fail(Why::kNotThere);
    if (rule_ == ScopeRule::kUndo && hunk_.occurrence) return choose_undone(matches);
    const size_t wanted = hunk_.occurrence ? static_cast<size_t>(hunk_.occurrence->count) : 1;
    if (matches.size() == wanted) {
      return matches[hunk_.occurrence ? static_cast<size_t>(hunk_.occurrence->index) - 1 : 0];
    }
    std::vector<uint32_t> sites;
    sites.reserve(matches.size());
    for (const Match& m : matches)
      sites.push_back(match_bytes(source_, m).first);
    const uint32_t first = sites.front();
    return fail(Why::kNotOnce, first, std::move(sites));
  }

  // `N of M` counts the sites before the patch: those where the anchor still is, and those where
  // the patch's result is by now. The N-th of all must be one that can be undone.
  std::optional<Match> choose_undone(const std::vector<Match>& matches) {
    std::map<uint32_t, const Match*> sites;
    const Side forward = make_side(hunk_, source_.language(), HunkLine::Kind::kAdded);
    const auto still = forward.code.empty()
                           ? std::vector<Match>{}
                           : find_matches(source_, forward, ranges_, Compare::kExact, &steps_);
    if (steps_ == 0) return fail(Why::kBeyondBudget);
    for (const Match& m : still)
      sites[match_bytes(source_, m).first] = nullptr;
    for (const Match& m : matches)
      sites[match_bytes(source_, m).first] = &m;
    auto site = sites.begin();
    if (sites.size() == static_cast<size_t>(hunk_.occurrence->count)) {
      std::advance(site, hunk_.occurrence->index - 1);
      if (site->second != nullptr) return *site->second;
    }
    return fail(Why::kNotTheStated, match_bytes(source_, matches.front()).first);
  }

  void rewrite(const Match& match) {
    Rewrite result = rewrite_hunk(source_, hunk_, side_, match);
    if (result.absent_comment) {
      fail(Why::kCommentAbsent, out_.begin);
      out_.failure->token = *result.absent_comment;
    } else if (result.lost_comment) {
      fail(Why::kCommentLost, *result.lost_comment);
    } else if (const auto near = added_near(match)) {
      fail(Why::kAddedNear, *near);
    } else {
      out_.evidence.code = side_.code.size();
      out_.evidence.trivia = result.removed_trivia;
      out_.edits = std::move(result.edits);
    }
  }

  // Where what is added stands already, of an insertion with its anchor on one side only. Somebody
  // may have put lines between the two since the patch was applied.
  std::optional<uint32_t> added_near(const Match& match) const {
    constexpr size_t kFewestTokens = 4;  // fewer say nothing
    if (rule_ != ScopeRule::kStrict || hunk_.foreign || hunk_.occurrence) return std::nullopt;
    const auto is = [](HunkLine::Kind kind) {
      return [kind](const HunkLine& l) { return l.kind == kind; };
    };
    const auto& lines = hunk_.lines;
    const auto first = std::find_if(lines.begin(), lines.end(), is(HunkLine::Kind::kAdded));
    const auto last = std::find_if(lines.rbegin(), lines.rend(), is(HunkLine::Kind::kAdded)).base();
    const bool inserts = std::all_of(first, last, is(HunkLine::Kind::kAdded)) &&
                         std::none_of(lines.begin(), lines.end(), is(HunkLine::Kind::kRemoved));
    if (!inserts || first == last) return std::nullopt;
    const auto begin = static_cast<size_t>(first - lines.begin());
    const auto on_line = [&](size_t t) { return side_.first_line[side_.code[t]]; };
    const bool behind = on_line(side_.code.size() - 1) < begin;
    if (!behind && on_line(0) < begin) return std::nullopt;
    Hunk added = hunk_;
    added.lines.assign(first, last);
    const Side what = make_side(added, source_.language(), HunkLine::Kind::kAdded);
    if (what.code.size() < kFewestTokens) return std::nullopt;
    const auto found =
        find_matches(source_, what, {beside(match, behind)}, Compare::kExact, nullptr);
    return found.empty() ? std::nullopt : std::optional(match_bytes(source_, found.front()).first);
  }

  // The code of a few lines behind or before a match.
  CodeRange beside(const Match& match, bool behind) const {
    constexpr size_t kLines = 12;
    const Lines& file = source_.lines();
    const auto [begin, end] = match_bytes(source_, match);
    if (behind) {
      const size_t last = std::min(file.line_of(end - 1) + kLines, file.count() - 1);
      return code_range(source_, end, file.end(last));
    }
    const size_t line = file.line_of(begin);
    return code_range(source_, file.begin(line - std::min(line, kLines)), begin);
  }

  // Where indentation is meaning, an anchor at another one is in another block.
  bool at_its_indentation(const Match& m) const {
    if (!indentation_is_meaning(source_.path())) return true;
    const Lines& file = source_.lines();
    for (size_t i = 0; i < m.code.size(); ++i) {
      const size_t line = file.line_of(source_.tokens()[source_.code()[m.code[i]]].begin);
      const std::string& text = hunk_.lines[side_.first_line[side_.code[i]]].text;
      if (file.indentation(line) != leading_blanks(text)) return false;
    }
    return true;
  }

  const Source& source_;
  const Hunk& written_;
  const Hunk hunk_;
  ScopeRule rule_;
  const Side side_;
  uint64_t steps_;  // left
  std::vector<CodeRange> ranges_;
  Placement out_;
};

}  // namespace

Verdict Unplaced::verdict() const {
  switch (why) {
    case Why::kUnreadable:
    case Why::kScopeDamaged:
    case Why::kDamaged:
      return Verdict::kDamagedParse;
    case Why::kAddedNear:
      return Verdict::kOutdated;
    case Why::kNoToken:
    case Why::kNoScopes:
      return Verdict::kMalformed;
    case Why::kScopeShared:
    case Why::kBeyondBudget:
    case Why::kNotOnce:
      return Verdict::kAmbiguous;
    default:
      return Verdict::kMissing;
  }
}

Placement place_hunk(const Source& source, const Hunk& hunk, ScopeRule rule, uint64_t steps) {
  return Placer(source, hunk, rule, steps).run();
}

}  // namespace patcher
