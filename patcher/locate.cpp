#include "patcher/locate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "patcher/heading.h"
#include "patcher/health.h"
#include "patcher/nearest.h"

namespace patcher {
namespace {

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

class Locator {
 public:
  Locator(const Source& source, const Hunk& hunk, ScopeRule rule, Failures failures)
      : source_(source),
        hunk_(whole_tokens(hunk, source.language())),
        rule_(rule),
        tells_(failures == Failures::kAll),
        explains_(rule == ScopeRule::kStrict && tells_),
        side_(make_side(hunk_, source.language(), HunkLine::Kind::kRemoved)) {}

  HunkResult run() {
    const auto match = find();
    if (!match || !readable(source_.unreadable())) return std::move(out_);
    const auto [begin, end] = match_bytes(source_, *match);
    out_.site = source_.place(begin);
    out_.site_begin = begin;
    out_.site_end = end;
    if (const auto damage = damage_at(source_, begin, end)) {
      fail(Verdict::kDamagedParse, begin,
           fmt::format("the anchor is in a damaged parse ({})", describe(source_, *damage)));
      return std::move(out_);
    }
    rewrite(*match);
    return std::move(out_);
  }

 private:
  void fail(Verdict verdict, uint32_t byte, std::string message) {
    Finding finding{
        .verdict = verdict, .place = source_.place(byte), .message = std::move(message)};
    finding.origin.line = hunk_.line;
    finding.origin.column = 1;
    out_.failure = std::move(finding);
  }
  void fail_in_file(Verdict verdict, std::string message) {
    fail(verdict, 0, std::move(message));
    out_.failure->place.line = 0;
  }
  void hint(std::string text) { out_.failure->hints.push_back(std::move(text)); }
  void list(const std::vector<uint32_t>& bytes) {
    if (!tells_) return;
    for (size_t i = 0; i < bytes.size() && i < kMaxCandidates; ++i) {
      out_.failure->candidates.push_back(source_.candidate(bytes[i]));
    }
  }

  std::optional<Match> find() {
    const bool by_syntax = !hunk_.scope.file || !hunk_.heading.empty();
    if (!readable(by_syntax ? source_.unreadable() : source_.bad_bytes())) return std::nullopt;
    if (side_.code.empty()) {
      fail_in_file(Verdict::kMalformed,
                   "the anchor has no token: comments and blanks are no anchor");
      return std::nullopt;
    }
    if (!find_ranges()) return std::nullopt;
    std::vector<Match> matches = search(ranges_);
    if (matches.empty() && rule_ == ScopeRule::kUndo && !hunk_.scope.file) {
      matches = search({whole_file()});
    }
    return choose(matches);
  }

  bool readable(const std::string& problem) {
    if (!problem.empty()) fail_in_file(Verdict::kDamagedParse, problem);
    return problem.empty();
  }

  CodeRange whole_file() const { return {0, static_cast<uint32_t>(source_.code().size())}; }

  std::vector<Match> search(const std::vector<CodeRange>& ranges) const {
    std::vector<Match> matches = find_matches(source_, side_, ranges);
    if (!hunk_.conditional.empty()) {
      std::erase_if(matches,
                    [&](const Match& m) { return !in_branch(match_bytes(source_, m).first); });
    }
    if (!hunk_.heading.empty() && rule_ == ScopeRule::kStrict) {
      std::erase_if(matches,
                    [&](const Match& m) { return !under_heading(source_, hunk_, side_, m); });
    }
    return matches;
  }

  bool in_branch(uint32_t byte) const {
    const auto names = source_.conditionals_at(byte);
    return std::find(names.begin(), names.end(), hunk_.conditional) != names.end();
  }

  // --- the scope

  bool find_ranges() {
    if (hunk_.scope.file) {
      ranges_ = {whole_file()};
      return true;
    }
    if (source_.language() == Language::kLines) {
      fail_in_file(Verdict::kMalformed, "a file without a grammar has the one scope `file`");
      return false;
    }
    std::vector<const Scope*> scopes = resolve_scope(source_.scopes(), hunk_.scope);
    keep_stated_branch(scopes);
    if (scopes.empty()) return no_scope();
    if (scopes.size() > 1 && !hunk_.occurrence && rule_ == ScopeRule::kStrict) {
      many_scopes(scopes);
      return false;
    }
    for (const Scope* scope : scopes) {
      if (scope->damaged) return damaged_scope(*scope);
      ranges_.push_back(code_range(source_, scope->begin, scope->end));
    }
    return true;
  }

  void keep_stated_branch(std::vector<const Scope*>& scopes) const {
    if (hunk_.conditional.empty() || scopes.size() < 2) return;
    const auto outside = [&](const Scope* s) { return !in_branch(s->begin); };
    if (std::all_of(scopes.begin(), scopes.end(), outside)) return;
    std::erase_if(scopes, outside);
  }

  bool no_scope() {
    if (rule_ == ScopeRule::kUndo) {
      ranges_ = {whole_file()};
      return true;
    }
    fail_in_file(Verdict::kMissing, fmt::format("scope `{}` is missing", hunk_.scope.text));
    if (!explains_) return false;
    if (!source_.damage().empty()) {
      hint("the file has damaged regions that may hide it: " +
           describe(source_, source_.damage().front()));
      out_.failure->place = source_.place(source_.damage().front().begin);
    }
    std::vector<uint32_t> near;
    for (const Scope& scope : source_.scopes()) {
      if (same_name_roughly(scope, hunk_.scope)) near.push_back(scope.begin);
    }
    list(near);
    if (!near.empty()) hint("scopes with a similar name are listed; none is used");
    elsewhere();
    return false;
  }

  void many_scopes(const std::vector<const Scope*>& scopes) {
    fail(Verdict::kAmbiguous, scopes.front()->begin,
         fmt::format("scope `{}` names {} places", hunk_.scope.text, scopes.size()));
    hint("say which by its qualified name, parameter types, `| #if state` or `| N of M`");
    std::vector<uint32_t> bytes;
    for (const Scope* scope : scopes)
      bytes.push_back(scope->begin);
    list(bytes);
    for (size_t i = 0; i < out_.failure->candidates.size(); ++i) {
      out_.failure->candidates[i].scope = scopes[i]->display();
    }
  }

  bool damaged_scope(const Scope& scope) {
    fail(Verdict::kDamagedParse, scope.begin,
         fmt::format("the head of scope `{}` does not parse", hunk_.scope.text));
    for (const Damage& damage : source_.damage()) {
      if (scope.begin <= damage.begin && damage.begin <= scope.end) {
        hint(describe(source_, damage));
      }
    }
    return false;
  }

  // --- the anchor

  std::optional<Match> choose(const std::vector<Match>& matches) {
    if (matches.empty()) {
      no_match();
      return std::nullopt;
    }
    if (rule_ == ScopeRule::kUndo && hunk_.occurrence) return choose_undone(matches);
    const size_t wanted = hunk_.occurrence ? static_cast<size_t>(hunk_.occurrence->count) : 1;
    if (matches.size() == wanted) {
      return matches[hunk_.occurrence ? static_cast<size_t>(hunk_.occurrence->index) - 1 : 0];
    }
    fail(Verdict::kAmbiguous, match_bytes(source_, matches.front()).first,
         fmt::format("the anchor is there {} times in scope `{}`, the patch says {}",
                     matches.size(), hunk_.scope.text, wanted));
    list_matches(matches);
    if (tells_ && matches.size() < wanted && !source_.damage().empty()) {
      hint("the rest may be in a damaged region: " + describe(source_, source_.damage().front()));
    }
    return std::nullopt;
  }

  // `N of M` counts the sites before the patch: those where the anchor still is, and those where
  // the patch's result is by now. The N-th of all must be one that can be undone.
  std::optional<Match> choose_undone(const std::vector<Match>& matches) {
    std::map<uint32_t, const Match*> sites;
    const Side forward = make_side(hunk_, source_.language(), HunkLine::Kind::kAdded);
    const auto still =
        forward.code.empty() ? std::vector<Match>{} : find_matches(source_, forward, ranges_);
    for (const Match& m : still)
      sites[match_bytes(source_, m).first] = nullptr;
    for (const Match& m : matches)
      sites[match_bytes(source_, m).first] = &m;
    auto site = sites.begin();
    if (sites.size() == static_cast<size_t>(hunk_.occurrence->count)) {
      std::advance(site, hunk_.occurrence->index - 1);
      if (site->second != nullptr) return *site->second;
    }
    fail(Verdict::kMissing, match_bytes(source_, matches.front()).first,
         "the result is not at the stated one of its places");
    return std::nullopt;
  }

  void list_matches(const std::vector<Match>& matches) {
    std::vector<uint32_t> bytes;
    for (const Match& m : matches)
      bytes.push_back(match_bytes(source_, m).first);
    list(bytes);
  }

  void no_match() {
    const std::string where =
        hunk_.heading.empty() ? fmt::format("0 matches in scope `{}`", hunk_.scope.text)
                              : fmt::format("0 matches under section heading `{}`", hunk_.heading);
    // Of a patch that is not applied this is what is expected; nobody reads why.
    if (!explains_) return fail_in_file(Verdict::kMissing, where);
    const auto nearest = nearest_place(source_, side_, ranges_);
    if (nearest) {
      const Place place = source_.place(nearest->byte);
      fail(Verdict::kMissing, nearest->differs,
           fmt::format("{}; closest: line {} `{}` differs at token {}: `{}`, the patch has `{}`",
                       where, place.line, first_line(nearest->byte), nearest->token, nearest->there,
                       nearest->wanted));
    } else {
      fail_in_file(Verdict::kMissing, where);
    }
    elsewhere();
  }

  std::string first_line(uint32_t byte) const {
    return squeeze(source_.lines().text(source_.lines().line_of(byte)));
  }

  // Says where else the anchor is, so that a person can tell what happened.
  void elsewhere() {
    const auto others = find_matches(source_, side_, {whole_file()});
    if (!others.empty()) {
      hint(fmt::format("the anchor is there {} times outside of the scope", others.size()));
      list_matches(others);
    }
    const auto macros = find_matches(source_, side_, {whole_file()}, Compare::kMacroText);
    for (const Match& m : macros) {
      const uint32_t byte = match_bytes(source_, m).first;
      if (!source_.tokens()[source_.code()[m.code.front()]].directive) continue;
      hint(fmt::format("{} in macro text at line {}; it needs a macro anchor", macros.size(),
                       source_.place(byte).line));
      break;
    }
  }

  // --- the edits

  void rewrite(const Match& match) {
    Rewrite result = rewrite_hunk(source_, hunk_, side_, match);
    if (result.absent_comment) {
      const size_t t = *result.absent_comment;
      fail(Verdict::kMissing, match_bytes(source_, match).first,
           fmt::format("the comment `{}` that the patch removes is not there",
                       squeeze(side_.token_text(t))));
    } else if (result.lost_comment) {
      const std::string at = first_line(*result.lost_comment);
      fail(Verdict::kMissing, *result.lost_comment,
           fmt::format("comment at line {} would be deleted: `{}`",
                       source_.place(*result.lost_comment).line, at));
      hint("list the comment on a `-` line, or keep it as context");
    } else {
      out_.anchor_size = side_.code.size() + result.removed_trivia;
      out_.edits = std::move(result.edits);
    }
  }

  const Source& source_;
  const Hunk hunk_;
  ScopeRule rule_;
  bool tells_;     // somebody reads the candidates and hints
  bool explains_;  // and why it is not there
  const Side side_;
  std::vector<CodeRange> ranges_;
  HunkResult out_;
};

}  // namespace

HunkResult locate_hunk(const Source& source, const Hunk& hunk, ScopeRule rule, Failures failures) {
  return Locator(source, hunk, rule, failures).run();
}

}  // namespace patcher
