#include "patcher/hunk/locate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "patcher/hunk/heading.h"
#include "patcher/hunk/hunk_failure.h"
#include "patcher/hunk/nearest.h"
#include "patcher/hunk/scope_ranges.h"
#include "patcher/syntax/health.h"

namespace patcher {
namespace {

class Locator {
 public:
  Locator(const Source& source, const Hunk& hunk, ScopeRule rule, Failures failures, uint64_t steps)
      : source_(source),
        hunk_(whole_tokens(hunk, source.language())),
        rule_(rule),
        tells_(failures == Failures::kAll),
        explains_(rule == ScopeRule::kStrict && tells_),
        side_(make_side(hunk_, source.language(), HunkLine::Kind::kRemoved)),
        budget_(steps),
        steps_(steps),
        failure_(source, hunk.line, tells_) {}

  HunkResult run() {
    if (const auto match = find()) at(*match);
    out_.failure = failure_.take();
    return std::move(out_);
  }

 private:
  void at(const Match& match) {
    if (!readable(source_.unreadable())) return;
    const auto [begin, end] = match_bytes(source_, match);
    out_.site = source_.place(begin);
    out_.site_begin = begin;
    out_.site_end = end;
    if (const auto damage = damage_at(source_, begin, end)) {
      failure_.at(begin, Verdict::kDamagedParse,
                  fmt::format("the anchor is in a damaged parse ({})", describe(source_, *damage)));
    } else {
      rewrite(match);
    }
  }

  std::optional<Match> find() {
    const bool by_syntax = !hunk_.scope.file || !hunk_.heading.empty();
    if (!readable(by_syntax ? source_.unreadable() : source_.bad_bytes())) return std::nullopt;
    if (side_.code.empty()) {
      failure_.in_file(Verdict::kMalformed,
                       "the anchor has no token: comments and blanks are no anchor");
      return std::nullopt;
    }
    auto ranges = scope_ranges(source_, hunk_, rule_, explains_, failure_);
    if (!ranges) {
      if (explains_ && failure_.finding().verdict == Verdict::kMissing) elsewhere();
      return std::nullopt;
    }
    ranges_ = std::move(*ranges);
    std::vector<Match> matches = search(ranges_);
    if (matches.empty() && rule_ == ScopeRule::kUndo && !hunk_.scope.file) {
      matches = search({whole_file(source_)});
    }
    return steps_ > 0 ? choose(matches) : given_up();
  }

  bool readable(const std::string& problem) {
    if (!problem.empty()) failure_.in_file(Verdict::kDamagedParse, problem);
    return problem.empty();
  }

  std::optional<Match> given_up() {
    failure_.in_file(Verdict::kAmbiguous,
                     fmt::format("the search for the anchor is beyond its budget ({} steps): "
                                 "whether it is there exactly once is not known",
                                 budget_));
    return std::nullopt;
  }

  std::vector<Match> search(const std::vector<CodeRange>& ranges) {
    std::vector<Match> matches = find_matches(source_, side_, ranges, Compare::kExact, &steps_);
    if (!hunk_.conditional.empty()) {
      std::erase_if(matches, [&](const Match& m) {
        return !in_branch(source_, hunk_, match_bytes(source_, m).first);
      });
    }
    if (!hunk_.heading.empty() && rule_ == ScopeRule::kStrict) {
      std::erase_if(matches,
                    [&](const Match& m) { return !under_heading(source_, hunk_, side_, m); });
    }
    if (rule_ == ScopeRule::kStrict) {
      std::erase_if(matches, [&](const Match& m) { return !at_its_edge(m); });
    }
    return matches;
  }

  bool at_its_edge(const Match& m) const {
    if (m.code.empty()) return true;
    return !(hunk_.at_begin && m.code.front() != 0) &&
           !(hunk_.at_end && m.code.back() + 1 != source_.code().size());
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
    failure_.at(match_bytes(source_, matches.front()).first, Verdict::kAmbiguous,
                fmt::format("the anchor is there {} times in scope `{}`, the patch says {}",
                            matches.size(), hunk_.scope.text, wanted));
    list_matches(matches);
    if (tells_ && matches.size() < wanted && !source_.damage().empty()) {
      failure_.hint("the rest may be in a damaged region: " +
                    describe(source_, source_.damage().front()));
    }
    return std::nullopt;
  }

  // `N of M` counts the sites before the patch: those where the anchor still is, and those where
  // the patch's result is by now. The N-th of all must be one that can be undone.
  std::optional<Match> choose_undone(const std::vector<Match>& matches) {
    std::map<uint32_t, const Match*> sites;
    const Side forward = make_side(hunk_, source_.language(), HunkLine::Kind::kAdded);
    const auto still = forward.code.empty()
                           ? std::vector<Match>{}
                           : find_matches(source_, forward, ranges_, Compare::kExact, &steps_);
    if (steps_ == 0) return given_up();
    for (const Match& m : still)
      sites[match_bytes(source_, m).first] = nullptr;
    for (const Match& m : matches)
      sites[match_bytes(source_, m).first] = &m;
    auto site = sites.begin();
    if (sites.size() == static_cast<size_t>(hunk_.occurrence->count)) {
      std::advance(site, hunk_.occurrence->index - 1);
      if (site->second != nullptr) return *site->second;
    }
    failure_.at(match_bytes(source_, matches.front()).first, Verdict::kMissing,
                "the result is not at the stated one of its places");
    return std::nullopt;
  }

  void list_matches(const std::vector<Match>& matches) {
    std::vector<uint32_t> bytes;
    for (const Match& m : matches)
      bytes.push_back(match_bytes(source_, m).first);
    failure_.list(bytes);
  }

  void no_match() {
    const std::string where =
        hunk_.heading.empty() ? fmt::format("0 matches in scope `{}`", hunk_.scope.text)
                              : fmt::format("0 matches under section heading `{}`", hunk_.heading);
    // Of a patch that is not applied this is what is expected; nobody reads why.
    if (!explains_) return failure_.in_file(Verdict::kMissing, where);
    const auto nearest = nearest_place(source_, side_, ranges_);
    if (nearest) {
      const Place place = source_.place(nearest->byte);
      failure_.at(
          nearest->differs, Verdict::kMissing,
          fmt::format("{}; closest: line {} `{}` differs at token {}: `{}`, the patch has `{}`",
                      where, place.line, first_line(nearest->byte), nearest->token, nearest->there,
                      nearest->wanted));
    } else {
      failure_.in_file(Verdict::kMissing, where);
    }
    elsewhere();
  }

  std::string first_line(uint32_t byte) const {
    return squeeze(source_.lines().text(source_.lines().line_of(byte)));
  }

  // Says where else the anchor is, so that a person can tell what happened.
  void elsewhere() {
    const auto others =
        find_matches(source_, side_, {whole_file(source_)}, Compare::kExact, &steps_);
    if (steps_ > 0 && !others.empty()) {
      failure_.hint(
          fmt::format("the anchor is there {} times outside of the scope", others.size()));
      list_matches(others);
    }
    const auto macros =
        find_matches(source_, side_, {whole_file(source_)}, Compare::kMacroText, &steps_);
    if (steps_ == 0) return;
    for (const Match& m : macros) {
      const uint32_t byte = match_bytes(source_, m).first;
      if (!source_.tokens()[source_.code()[m.code.front()]].directive) continue;
      failure_.hint(fmt::format("{} in macro text at line {}; it needs a macro anchor",
                                macros.size(), source_.place(byte).line));
      break;
    }
  }

  // --- the edits

  void rewrite(const Match& match) {
    Rewrite result = rewrite_hunk(source_, hunk_, side_, match);
    if (result.absent_comment) {
      const size_t t = *result.absent_comment;
      failure_.at(match_bytes(source_, match).first, Verdict::kMissing,
                  fmt::format("the comment `{}` that the patch removes is not there",
                              squeeze(side_.token_text(t))));
    } else if (result.lost_comment) {
      const std::string at = first_line(*result.lost_comment);
      failure_.at(*result.lost_comment, Verdict::kMissing,
                  fmt::format("comment at line {} would be deleted: `{}`",
                              source_.place(*result.lost_comment).line, at));
      failure_.hint("list the comment on a `-` line, or keep it as context");
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
  const uint64_t budget_;
  uint64_t steps_;  // left
  std::vector<CodeRange> ranges_;
  HunkFailure failure_;
  HunkResult out_;
};

}  // namespace

HunkResult locate_hunk(const Source& source, const Hunk& hunk, ScopeRule rule, Failures failures,
                       uint64_t steps) {
  return Locator(source, hunk, rule, failures, steps).run();
}

}  // namespace patcher
