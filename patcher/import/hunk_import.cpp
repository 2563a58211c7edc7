#include "patcher/import/hunk_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/hunk/anchor.h"
#include "patcher/hunk/place.h"
#include "patcher/import/hunk_draft.h"
#include "patcher/import/import_scopes.h"
#include "patcher/patch/patch_rules.h"
#include "patcher/text/change_blocks.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;
constexpr size_t kMostContext = 8;  // lines that are not blank, on each side
constexpr size_t kJoinGap = 1;      // blocks with at most that many lines between share a hunk

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
        texts_{text_lines(before.bytes()), text_lines(after)} {}

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

  ContextRoom room(const std::vector<Group>& groups, size_t g) const {
    const Group& group = groups[g];
    ContextRoom r{.begin = blocks_[group.first].before_begin,
                  .end = blocks_[group.last - 1].before_end};
    if (g > 0) r.lo = blocks_[groups[g - 1].last - 1].before_end;
    r.hi = g + 1 < groups.size() ? blocks_[groups[g + 1].first].before_begin : texts_.before.size();
    return r;
  }

  std::optional<Hunk> solve(const std::vector<Group>& groups, size_t g) const {
    const Group& group = groups[g];
    const std::vector<ByteEdit> wanted = line_edits(bytes(), after_, blocks(group));
    const std::vector<ScopeSpec> scopes = scopes_around(before_, blocks(group), parameters_);
    for (const ScopeSpec& scope : scopes) {
      if (auto hunk = smallest(group, room(groups, g), scope, wanted)) return hunk;
    }
    if (in_damage_) return std::nullopt;
    for (const ScopeSpec& scope : scopes) {
      if (auto hunk = one_of_many(group, room(groups, g), scope, wanted)) return hunk;
    }
    return std::nullopt;
  }

  const std::string& bytes() const { return before_.bytes(); }

  std::optional<Hunk> smallest(const Group& group, const ContextRoom& r, const ScopeSpec& scope,
                               const std::vector<ByteEdit>& wanted) const {
    in_damage_ = false;
    for (size_t total = 2 * least_; total <= 2 * kMostContext; ++total) {
      for (const auto& [up, down] : splits(total)) {
        auto hunk = draft(group, r, up, down, scope);
        if (hunk && makes(*hunk, wanted)) return hunk;
        if (in_damage_) return std::nullopt;  // more context does not mend it
      }
    }
    // A long comment has no code near: the nearest is its context.
    for (const auto& [up, down] : to_code(r)) {
      auto hunk = draft(group, r, up, down, scope);
      if (hunk && makes(*hunk, wanted)) return hunk;
    }
    return std::nullopt;
  }

  // How many context lines reach to code behind the group and before it, where that is far.
  std::vector<std::pair<size_t, size_t>> to_code(const ContextRoom& r) const {
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
      down += is_blank(texts_.before[last++]) ? 0 : 1;
    while (first > r.lo && !has_code(first - 1))
      up += is_blank(texts_.before[--first]) ? 0 : 1;
    std::vector<std::pair<size_t, size_t>> out;
    if (last < r.hi && down >= kMostContext) out.emplace_back(0, down + 1);
    if (first > r.lo && up >= kMostContext) out.emplace_back(up + 1, 0);
    // The middle of a comment stands between its begin and its end; a file may begin or end with
    // it.
    const size_t before = first > r.lo ? 1 : 0;
    const size_t behind = last < r.hi ? 1 : 0;
    if (before + behind > 0 && up > 0 && down > 0) out.emplace_back(up + before, down + behind);
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
  std::optional<Hunk> one_of_many(const Group& group, const ContextRoom& r, const ScopeSpec& scope,
                                  const std::vector<ByteEdit>& wanted) const {
    for (size_t total = 2 * least_; total <= 2 * least_ + 2; ++total) {
      for (const auto& [up, down] : splits(total)) {
        auto hunk = draft(group, r, up, down, scope);
        if (hunk && hunk_faults(*hunk).empty() && select(*hunk, r, wanted)) return hunk;
      }
    }
    return std::nullopt;
  }

  bool select(Hunk& hunk, const ContextRoom& r, const std::vector<ByteEdit>& wanted) const {
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
      for (const Scope* s : before_.resolve(hunk.scope))
        ranges.push_back(code_range(before_, s->begin, s->end));
    }
    const size_t count = find_matches(before_, side, ranges).size();
    return count < kMaxMatches ? static_cast<int>(count) : 0;
  }

  std::optional<Hunk> draft(const Group& group, const ContextRoom& r, size_t up, size_t down,
                            const ScopeSpec& scope) const {
    auto hunk = draft_hunk(texts_, blocks(group), r, {.up = up, .down = down, .least = least_});
    if (hunk) hunk->scope = scope;
    return hunk;
  }

  std::span<const ChangeBlock> blocks(const Group& group) const {
    return std::span(blocks_).subspan(group.first, group.last - group.first);
  }

  bool makes(const Hunk& hunk, const std::vector<ByteEdit>& wanted) const {
    in_damage_ = false;
    if (!hunk_faults(hunk).empty()) return false;
    Placement result = place_hunk(before_, hunk);
    in_damage_ = result.failure && result.failure->verdict() == Verdict::kDamagedParse;
    if (result.failure) return false;
    sort_edits(result.edits);
    return !first_overlap(result.edits) && same_result(bytes(), result.edits, wanted);
  }

  const Source& before_;
  const std::string& after_;
  size_t least_;
  bool parameters_;
  mutable bool in_damage_ = false;  // the last hunk tried had its place, and that does not parse
  std::vector<ChangeBlock> blocks_;
  TwoTexts texts_;
};

}  // namespace

ImportedHunks import_hunks(const Source& before, const std::string& after,
                           const AnchorStyle& style) {
  return FileImport(before, after, style).run();
}

}  // namespace patcher
