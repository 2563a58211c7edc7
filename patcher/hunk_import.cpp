#include "patcher/hunk_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/anchor.h"
#include "patcher/change_blocks.h"
#include "patcher/lines.h"
#include "patcher/locate.h"
#include "patcher/patch_rules.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;
constexpr size_t kMostContext = 8;  // lines that are not blank, on each side
constexpr size_t kJoinGap = 1;      // blocks with at most that many lines between share a hunk

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

// Changed lines that share one hunk: blocks [first, last).
struct Group {
  size_t first = 0;
  size_t last = 0;
};

class FileImport {
 public:
  FileImport(const Source& before, const std::string& after, const AnchorStyle& style)
      : before_(before),
        after_(after),
        least_(style.least_context),
        parameters_(style.parameters),
        blocks_(change_blocks(before.bytes(), after)),
        old_lines_(text_lines(before.bytes())),
        new_lines_(text_lines(after)) {}

  ImportedHunks run() {
    ImportedHunks out;
    std::vector<Group> groups = first_groups();
    for (size_t g = 0; g < groups.size();) {
      if (auto hunk = solve(groups, g)) {
        out.hunks.push_back(std::move(*hunk));
        ++g;
      } else if (in_damage_ || !join(groups, g, out.hunks)) {
        out.damaged = in_damage_;
        out.failed_line = blocks_[groups[g].first].before_begin + 1;
        return out;
      }
    }
    return out;
  }

 private:
  std::vector<Group> first_groups() const {
    std::vector<Group> groups;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      if (b > 0 && blocks_[b].before_begin - blocks_[b - 1].before_end <= kJoinGap) {
        groups.back().last = b + 1;
      } else {
        groups.push_back({b, b + 1});
      }
    }
    return groups;
  }

  // Two groups that cannot be told apart alone may be together: the next one joins, else the last.
  static bool join(std::vector<Group>& groups, size_t& g, std::vector<Hunk>& hunks) {
    if (g + 1 < groups.size()) {
      groups[g].last = groups[g + 1].last;
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g) + 1);
      return true;
    }
    if (g == 0) return false;
    groups[g - 1].last = groups[g].last;
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
    hunks.pop_back();
    --g;
    return true;
  }

  // --- one group

  // Unchanged lines around the group that may serve as its context: [lo, begin) and [end, hi).
  struct Room {
    size_t lo = 0;
    size_t begin = 0;
    size_t end = 0;
    size_t hi = 0;
  };

  Room room(const std::vector<Group>& groups, size_t g) const {
    const Group& group = groups[g];
    Room r{.begin = blocks_[group.first].before_begin, .end = blocks_[group.last - 1].before_end};
    if (g > 0) r.lo = blocks_[groups[g - 1].last - 1].before_end;
    r.hi = g + 1 < groups.size() ? blocks_[groups[g + 1].first].before_begin : old_lines_.size();
    return r;
  }

  std::optional<Hunk> solve(const std::vector<Group>& groups, size_t g) const {
    const Group& group = groups[g];
    const std::string wanted = only(group);
    const std::vector<ScopeSpec> scopes = scopes_around(group);
    for (const ScopeSpec& scope : scopes) {
      if (auto hunk = smallest(group, room(groups, g), scope, wanted)) return hunk;
    }
    if (in_damage_) return std::nullopt;
    for (const ScopeSpec& scope : scopes) {
      if (auto hunk = one_of_many(group, room(groups, g), scope, wanted)) return hunk;
    }
    return std::nullopt;
  }

  // The file with this group's change alone.
  std::string only(const Group& group) const {
    const Lines& lines = before_.lines();
    const Lines after_lines(after_);
    const auto old_at = [&](size_t line) {
      return line < lines.count() ? lines.begin(line) : static_cast<uint32_t>(bytes().size());
    };
    const auto new_at = [&](size_t line) {
      return line < after_lines.count() ? after_lines.begin(line)
                                        : static_cast<uint32_t>(after_.size());
    };
    std::vector<ByteEdit> edits;
    for (size_t b = group.first; b < group.last; ++b) {
      const ChangeBlock& c = blocks_[b];
      const uint32_t from = new_at(c.after_begin);
      edits.push_back({old_at(c.before_begin), old_at(c.before_end),
                       after_.substr(from, new_at(c.after_end) - from)});
    }
    return apply_edits(bytes(), edits);
  }

  const std::string& bytes() const { return before_.bytes(); }

  std::optional<Hunk> smallest(const Group& group, const Room& r, const ScopeSpec& scope,
                               const std::string& wanted) const {
    in_damage_ = false;
    for (size_t total = 2 * least_; total <= 2 * kMostContext; ++total) {
      for (const auto& [up, down] : splits(total)) {
        auto hunk = make_hunk(group, r, up, down, scope);
        if (hunk && makes(*hunk, wanted)) return hunk;
        if (in_damage_) return std::nullopt;  // more context does not mend it
      }
    }
    // A long comment has no code near: the nearest is its context.
    for (const auto& [up, down] : to_code(r)) {
      auto hunk = make_hunk(group, r, up, down, scope);
      if (hunk && makes(*hunk, wanted)) return hunk;
    }
    return std::nullopt;
  }

  // How many context lines reach to code behind the group and before it, where that is far.
  std::vector<std::pair<size_t, size_t>> to_code(const Room& r) const {
    const auto has_code = [&](size_t line) {
      const uint32_t begin = before_.lines().begin(line);
      const CodeRange range = code_range(before_, begin, before_.lines().text_end(line));
      return range.first < range.second;
    };
    size_t down = 0;
    size_t up = 0;
    size_t last = r.end;
    size_t first = r.begin;
    while (last < r.hi && !has_code(last))
      down += is_blank(old_lines_[last++]) ? 0 : 1;
    while (first > r.lo && !has_code(first - 1))
      up += is_blank(old_lines_[--first]) ? 0 : 1;
    std::vector<std::pair<size_t, size_t>> out;
    if (last < r.hi && down >= kMostContext) out.emplace_back(0, down + 1);
    if (first > r.lo && up >= kMostContext) out.emplace_back(up + 1, 0);
    return out;
  }

  // How `total` context lines are shared, evenly first.
  std::vector<std::pair<size_t, size_t>> splits(size_t total) const {
    std::vector<std::pair<size_t, size_t>> out;
    for (size_t up = total + 1; up-- > 0;) {
      const size_t down = total - up;
      if (up < least_ || down < least_ || up > kMostContext || down > kMostContext) continue;
      out.emplace_back(up, down);
    }
    const auto skew = [](const auto& s) {
      return s.first > s.second ? s.first - s.second : s.second - s.first;
    };
    std::stable_sort(out.begin(), out.end(),
                     [&](const auto& a, const auto& b) { return skew(a) < skew(b); });
    return out;
  }

  // Copies that no context tells apart: by #if state, else by the occurrence.
  std::optional<Hunk> one_of_many(const Group& group, const Room& r, const ScopeSpec& scope,
                                  const std::string& wanted) const {
    for (size_t total = 2 * least_; total <= 2 * least_ + 2; ++total) {
      for (const auto& [up, down] : splits(total)) {
        auto hunk = make_hunk(group, r, up, down, scope);
        if (hunk && hunk_faults(*hunk).empty() && select(*hunk, r, wanted)) return hunk;
      }
    }
    return std::nullopt;
  }

  bool select(Hunk& hunk, const Room& r, const std::string& wanted) const {
    const uint32_t at = before_.lines().begin(std::min(r.begin, before_.lines().count() - 1));
    const auto states = before_.conditionals_at(at);
    if (!states.empty()) {
      hunk.conditional = states.back();
      if (makes(hunk, wanted)) return true;
      hunk.conditional.clear();
    }
    for (int n = 1, count = sites(hunk); n <= count; ++n) {
      hunk.occurrence = Occurrence{n, count};
      if (makes(hunk, wanted)) return true;
    }
    return false;
  }

  int sites(const Hunk& hunk) const {
    const Hunk whole = whole_tokens(hunk, before_.language());
    const Side side = make_side(whole, before_.language(), Kind::kRemoved);
    if (side.code.empty()) return 0;
    std::vector<CodeRange> ranges;
    if (hunk.scope.file) ranges = {{0, static_cast<uint32_t>(before_.code().size())}};
    if (!hunk.scope.file) {
      for (const Scope* s : resolve_scope(before_.scopes(), hunk.scope))
        ranges.push_back(code_range(before_, s->begin, s->end));
    }
    const size_t count = find_matches(before_, side, ranges).size();
    return count < kMaxMatches ? static_cast<int>(count) : 0;
  }

  std::optional<Hunk> make_hunk(const Group& group, const Room& r, size_t up, size_t down,
                                const ScopeSpec& scope) const {
    const size_t asked_up = up;
    const size_t asked_down = down;
    size_t first = r.begin;
    for (size_t i = r.begin; i > r.lo && up > 0; --i) {
      if (is_blank(old_lines_[i - 1])) continue;
      first = i - 1;
      --up;
    }
    size_t last = r.end;
    for (size_t i = r.end; i < r.hi && down > 0; ++i) {
      if (is_blank(old_lines_[i])) continue;
      last = i + 1;
      --down;
    }
    // Fewer lines than asked for are what there is only for the least context.
    if ((up > 0 && asked_up > least_) || (down > 0 && asked_down > least_)) return std::nullopt;
    Hunk hunk{.scope = scope};
    size_t next = first;
    for (size_t b = group.first; b < group.last; ++b) {
      const ChangeBlock& c = blocks_[b];
      add(hunk, Kind::kContext, old_lines_, next, c.before_begin);
      add(hunk, Kind::kRemoved, old_lines_, c.before_begin, c.before_end);
      add(hunk, Kind::kAdded, new_lines_, c.after_begin, c.after_end);
      next = c.before_end;
    }
    add(hunk, Kind::kContext, old_lines_, next, last);
    if (r.end == old_lines_.size() || r.begin == 0) frame_deletion(hunk);
    return hunk;
  }

  // What goes from a file's edge has context on one side only: the line there is written as going
  // too, and coming back.
  static void frame_deletion(Hunk& hunk) {
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

  static void add(Hunk& hunk, Kind kind, const std::vector<std::string_view>& lines, size_t begin,
                  size_t end) {
    for (size_t i = begin; i < end; ++i) {
      hunk.lines.push_back({.kind = kind, .text = std::string(lines[i])});
      if (kind == Kind::kContext && is_skip(lines[i])) hunk.lines.back().kind = Kind::kSkip;
    }
  }

  static bool is_skip(std::string_view line) {
    const size_t dots = line.find("...");
    return dots != std::string_view::npos && is_blank(line.substr(0, dots)) &&
           is_blank(line.substr(dots + 3));
  }

  bool makes(const Hunk& hunk, const std::string& wanted) const {
    in_damage_ = false;
    if (!hunk_faults(hunk).empty()) return false;
    HunkResult result = locate_hunk(before_, hunk, ScopeRule::kStrict, Failures::kVerdict);
    in_damage_ = result.failure && result.failure->verdict == Verdict::kDamagedParse;
    if (result.failure) return false;
    sort_edits(result.edits);
    return !first_overlap(result.edits) && apply_edits(bytes(), result.edits) == wanted;
  }

  // --- scopes

  // What a hunk header can say for the group, innermost first; `file` is the last.
  std::vector<ScopeSpec> scopes_around(const Group& group) const {
    std::vector<ScopeSpec> out;
    const auto& scopes = before_.scopes();
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
      const bool named = scope->kind == Scope::Kind::kFunction || scope->kind == Scope::Kind::kType;
      if (!named || scope->damaged || !holds(*scope, group)) continue;
      for (const std::string& text : spellings(*scope)) {
        const auto spec = parse_scope(text);
        if (!spec) continue;
        const auto found = resolve_scope(scopes, *spec);
        if (std::find(found.begin(), found.end(), &*scope) == found.end()) continue;
        out.push_back(*spec);
        if (found.size() == 1) break;
      }
    }
    out.push_back(*parse_scope("file"));
    return out;
  }

  // A function is its name, and its parameters where the name alone is not enough.
  std::vector<std::string> spellings(const Scope& scope) const {
    std::string name;
    for (const std::string& part : scope.name)
      name += (name.empty() ? "" : "::") + part;
    if (scope.kind == Scope::Kind::kType || !parameters_) return {name};
    return {name, scope.display()};
  }

  bool holds(const Scope& scope, const Group& group) const {
    const Lines& lines = before_.lines();
    return std::all_of(
        blocks_.begin() + static_cast<std::ptrdiff_t>(group.first),
        blocks_.begin() + static_cast<std::ptrdiff_t>(group.last), [&](const ChangeBlock& b) {
          if (b.before_begin >= lines.count()) return false;
          const uint32_t begin = lines.begin(b.before_begin);
          if (b.inserts()) return scope.begin < begin && begin < scope.end;
          const auto indent = lines.indentation(b.before_begin).size();
          return scope.begin <= begin + indent && lines.text_end(b.before_end - 1) <= scope.end;
        });
  }

  const Source& before_;
  const std::string& after_;
  size_t least_;
  bool parameters_;
  mutable bool in_damage_ = false;  // the last hunk tried had its place, and that does not parse
  std::vector<ChangeBlock> blocks_;
  std::vector<std::string_view> old_lines_;
  std::vector<std::string_view> new_lines_;
};

}  // namespace

ImportedHunks import_hunks(const Source& before, const std::string& after,
                           const AnchorStyle& style) {
  return FileImport(before, after, style).run();
}

}  // namespace patcher
