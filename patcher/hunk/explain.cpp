#include "patcher/hunk/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/hunk/heading.h"
#include "patcher/hunk/nearest.h"
#include "patcher/hunk/scope_ranges.h"
#include "patcher/syntax/health.h"

namespace patcher {
namespace {

using Why = Unplaced::Why;
constexpr size_t kMaxCandidates = 12;

bool same_name_roughly(const Scope& scope, const ScopeSpec& spec) {
  const std::string& a = scope.name.back();
  const std::string& b = spec.name.back();
  if (a == b || a.find(b) != std::string::npos || b.find(a) != std::string::npos) return true;
  const size_t most = std::min(a.size(), b.size());
  size_t prefix = 0;
  while (prefix < most && a[prefix] == b[prefix])
    ++prefix;
  return prefix >= 3 || (most <= 3 && prefix + 1 >= most && prefix > 0);
}

// How often an anchor was found; the search ends at kMaxMatches.
std::string times(size_t found) {
  return fmt::format("{}{} time{}", found < kMaxMatches ? "" : "at least ", found,
                     found == 1 ? "" : "s");
}

class Explainer {
 public:
  Explainer(const Source& source, const Hunk& hunk, ScopeRule rule, const Unplaced& failure)
      : source_(source),
        hunk_(whole_tokens(hunk, source.language())),
        rule_(rule),
        failure_(failure),
        side_(make_side(hunk_, source.language(), HunkLine::Kind::kRemoved)) {
    out_.verdict = failure.verdict();
    out_.place = source.place(failure.byte);
    out_.origin = at_line("", hunk.line);
  }

  Finding run() {
    tell();
    return std::move(out_);
  }

 private:
  void tell() {
    switch (failure_.why) {
      case Why::kUnreadable:
        return in_file(source_.unreadable().empty() ? source_.bad_bytes() : source_.unreadable());
      case Why::kNoToken:
        return in_file("the anchor has no token: comments and blanks are no anchor");
      case Why::kNoScopes:
        return in_file(source_.is_large()
                           ? "a file beyond the parse budget (" + ParseBudget{}.display() +
                                 ") has the one scope `file`"
                           : "a file without a grammar has the one scope `file`");
      case Why::kScopeMissing:
        return no_scope();
      case Why::kScopeShared:
        return many_scopes();
      case Why::kScopeDamaged:
        return damaged_scope();
      case Why::kBeyondBudget:
        return in_file(
            "the search for the anchor is beyond its budget: whether it is there exactly once is "
            "not known");
      case Why::kNotThere:
        return not_there();
      case Why::kNotOnce:
        return not_once();
      case Why::kNotTheStated:
        return here("the result is not at the stated one of its places");
      case Why::kDamaged:
        return damaged();
      case Why::kCommentAbsent:
        return here(fmt::format("the comment `{}` that the patch removes is not there",
                                excerpt(side_.token_text(failure_.token))));
      case Why::kCommentLost:
        here(fmt::format("comment at line {} would be deleted: `{}`", out_.place.line,
                         line_at(failure_.byte)));
        return hint("list the comment on a `-` line, or keep it as context");
      case Why::kAddedNear:
        here("what the hunk adds is near its anchor already: it may be applied");
        return hint("context on both sides of what is added tells");
      case Why::kLineEnds:
        return in_file("the hunk changes line ends, and its lines are not there with their ends");
    }
  }

  void here(std::string message) { out_.message = std::move(message); }
  void in_file(std::string message) {
    here(std::move(message));
    out_.place = source_.place(0);
    out_.place.line = 0;
  }
  void hint(std::string text) { out_.hints.push_back(std::move(text)); }
  void list(const std::vector<uint32_t>& bytes) {
    for (size_t i = 0; i < std::min(bytes.size(), kMaxCandidates); ++i)
      out_.candidates.push_back(source_.candidate(bytes[i]));
  }
  std::string line_at(uint32_t byte) const {
    return excerpt(source_.lines().text(source_.lines().line_of(byte)));
  }

  void no_scope() {
    in_file(fmt::format("scope `{}` is missing", hunk_.scope.text));
    if (!source_.damage().empty()) {
      hint("the file has damaged regions that may hide it: " +
           describe(source_, source_.damage().front()));
      out_.place = source_.place(source_.damage().front().begin);
    }
    std::vector<uint32_t> near;
    for (const Scope& scope : source_.scopes()) {
      if (same_name_roughly(scope, hunk_.scope)) near.push_back(scope.begin);
    }
    list(near);
    if (!near.empty()) hint("scopes with a similar name are listed; none is used");
    elsewhere();
  }

  void many_scopes() {
    here(fmt::format("scope `{}` names {} places", hunk_.scope.text, failure_.sites.size()));
    hint("say which by its qualified name, parameter types, `| #if state` or `| N of M`");
    list(failure_.sites);
    for (const Scope* scope : resolve_scope(source_.scopes(), hunk_.scope)) {
      const auto site = std::find(failure_.sites.begin(), failure_.sites.end(), scope->begin);
      const auto i = static_cast<size_t>(site - failure_.sites.begin());
      if (i < out_.candidates.size()) out_.candidates[i].scope = scope->display();
    }
  }

  void damaged_scope() {
    here(fmt::format("the head of scope `{}` does not parse", hunk_.scope.text));
    for (const Scope& scope : source_.scopes()) {
      if (scope.begin != failure_.byte || !scope.damaged) continue;
      for (const Damage& damage : source_.damage()) {
        if (scope.begin <= damage.begin && damage.begin <= scope.end) {
          hint(describe(source_, damage));
        }
      }
      return;
    }
  }

  void damaged() {
    const auto damage = damage_at(source_, failure_.byte, failure_.end);
    here(damage ? fmt::format("the anchor is in a damaged parse ({})", describe(source_, *damage))
                : "the anchor is in a damaged parse");
  }

  void not_once() {
    const int wanted = hunk_.occurrence ? hunk_.occurrence->count : 1;
    here(fmt::format("the anchor is there {} in scope `{}`, the patch says {}",
                     times(failure_.sites.size()), hunk_.scope.text, wanted));
    list(failure_.sites);
    if (std::ssize(failure_.sites) < wanted && !source_.damage().empty()) {
      hint("the rest may be in a damaged region: " + describe(source_, source_.damage().front()));
    }
  }

  void not_there() {
    const std::string where =
        hunk_.heading.empty() ? fmt::format("0 matches in scope `{}`", hunk_.scope.text)
                              : fmt::format("0 matches under section heading `{}`", hunk_.heading);
    in_file(where);
    // Of a patch that is not applied this is what is expected of its undoing.
    if (rule_ == ScopeRule::kUndo) return;
    const auto ranges = readable_ranges();
    const auto nearest = nearest_place(source_, side_, ranges);
    if (nearest && nearest->has_word && !nearest->wanted.empty()) {
      const int line = source_.place(nearest->byte).line;
      out_.place = source_.place(nearest->differs);
      here(fmt::format("{}; closest: line {} `{}` differs at token {}: `{}`, the patch has `{}`",
                       where, line, line_at(nearest->byte), nearest->token, excerpt(nearest->there),
                       excerpt(nearest->wanted)));
      if (differs_in_the_change(*nearest, ranges)) {
        hint(fmt::format("neither what the patch needs nor what it makes: found `{}`",
                         line_at(nearest->differs)));
      }
    }
    elsewhere();
  }

  // Where the anchor may be: in its scope, and under its section heading if that is there.
  std::vector<CodeRange> readable_ranges() const {
    std::optional<Unplaced> none;
    const auto scope = scope_ranges(source_, hunk_, rule_, none);
    if (!scope || hunk_.heading.empty()) return scope.value_or(std::vector<CodeRange>());
    auto under = ranges_under_heading(source_, hunk_.heading);
    return under.empty() ? *scope : under;
  }

  // Whether the place has another text where the patch changes it, and not what the patch makes.
  bool differs_in_the_change(const Nearest& nearest, const std::vector<CodeRange>& ranges) const {
    const size_t token = side_.code[nearest.token - 1];
    if (hunk_.lines[side_.first_line[token]].kind != HunkLine::Kind::kRemoved) return false;
    const Side made = make_side(hunk_, source_.language(), HunkLine::Kind::kAdded);
    const auto other = nearest_place(source_, made, ranges);
    return other && !other->wanted.empty() &&
           source_.lines().line_of(other->differs) == source_.lines().line_of(nearest.differs);
  }

  // Says where else the anchor is, so that a person can tell what happened.
  void elsewhere() {
    if (rule_ == ScopeRule::kUndo) return;
    uint64_t steps = kMatchSteps;
    const auto others =
        find_matches(source_, side_, {whole_file(source_)}, Compare::kExact, &steps);
    if (steps > 0 && !others.empty()) {
      hint(fmt::format("the anchor is there {} outside of the scope", times(others.size())));
      std::vector<uint32_t> bytes;
      bytes.reserve(others.size());
      for (const Match& m : others)
        bytes.push_back(match_bytes(source_, m).first);
      list(bytes);
    }
    const auto macros =
        find_matches(source_, side_, {whole_file(source_)}, Compare::kMacroText, &steps);
    if (steps == 0) return;
    for (const Match& m : macros) {
      const uint32_t byte = match_bytes(source_, m).first;
      if (!source_.tokens()[source_.code()[m.code.front()]].directive) continue;
      hint(fmt::format("{} in macro text at line {}; it needs a macro anchor", macros.size(),
                       source_.place(byte).line));
      break;
    }
  }

  const Source& source_;
  const Hunk hunk_;
  const ScopeRule rule_;
  const Unplaced& failure_;
  const Side side_;
  Finding out_;
};

}  // namespace

Finding explain(const Source& source, const Hunk& hunk, ScopeRule rule, const Unplaced& failure) {
  return Explainer(source, hunk, rule, failure).run();
}

}  // namespace patcher
