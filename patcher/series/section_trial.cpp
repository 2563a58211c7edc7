#include "patcher/series/section_trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/hunk/explain.h"
#include "patcher/syntax/health.h"

namespace patcher {
namespace {

Finding finding(const Patch& patch, const FileChange& change, Verdict verdict, Place place,
                std::string message) {
  return Finding::of(verdict, at_line(patch.name, change.line), std::move(message),
                     std::move(place));
}

TrialFailure unplaced(const Patch& patch, const std::shared_ptr<const Source>& source,
                      const Hunk& hunk, ScopeRule rule, Unplaced why) {
  TrialFailure failure{.source = source, .hunk = hunk, .rule = rule, .unplaced = std::move(why)};
  failure.finding.verdict = failure.unplaced.verdict();
  failure.finding.place.file = source->path();
  failure.finding.origin = at_line(patch.name, hunk.line);
  return failure;
}

SectionTrial try_section(const Patch& patch, const FileChange& change,
                         const std::shared_ptr<const Source>& before, ScopeRule rule) {
  SectionTrial out;
  for (size_t i = 0; i < change.hunks.size(); ++i) {
    const Hunk& hunk = change.hunks[i];
    out.parts.push_back(
        {.what = fmt::format("hunk {} of {} (line {})", i + 1, change.path, hunk.line)});
    if (!before) continue;
    Placement placed = place_hunk(*before, hunk, rule);
    if (placed.failure) {
      out.failures.push_back(unplaced(patch, before, hunk, rule, std::move(*placed.failure)));
      continue;
    }
    TrialPart& part = out.parts.back();
    part.done = true;
    part.evidence = placed.evidence;
    part.damaged = placed.damaged;
    part.changes = !placed.edits.empty();
    std::move(placed.edits.begin(), placed.edits.end(), std::back_inserter(out.edits));
  }
  sort_edits(out.edits);
  return out;
}

// What is wrong with a file's text after the edits for the grammar, and was not before.
std::optional<Finding> worse_parse(const Patch& patch, const FileChange& change,
                                   const Source& before, const std::vector<ByteEdit>& edits,
                                   const Source& after) {
  const auto found = [&](std::string message) {
    return finding(patch, change, Verdict::kDamagedParse, {.file = change.path},
                   "after the edit " + std::move(message));
  };
  if (!after.unreadable().empty()) return found(after.unreadable());
  const auto damage = new_damage(before, edits, after);
  if (!damage) return std::nullopt;
  return found(fmt::format("the file parses worse than before ({}): `{}`", describe(after, *damage),
                           after.candidate(damage->begin).text));
}

SectionResult finish_section(const Patch& patch, const FileChange& change,
                             const std::shared_ptr<const Source>& before, ScopeRule rule,
                             const SectionTrial& trial) {
  if (const auto at = first_overlap(trial.edits)) {
    return {.failure = finding(patch, change, Verdict::kOverlaps, before->place(*at),
                               "two hunks change the same bytes")};
  }
  auto after = Source::edited(before, trial.edits);
  if (rule == ScopeRule::kUndo) return {.after = std::move(after)};
  std::optional<Finding> worse = worse_parse(patch, change, *before, trial.edits, *after);
  // Where all lines are as a diff has them, their author read them, and not the grammar.
  const bool by_lines = std::all_of(trial.parts.begin(), trial.parts.end(),
                                    [](const TrialPart& p) { return p.evidence.verbatim; });
  if (worse && !by_lines) return {.failure = std::move(worse)};
  if (worse) worse->verdict = Verdict::kApplies;
  return {.after = std::move(after), .note = std::move(worse)};
}

}  // namespace

Finding explained(const TrialFailure& failure) {
  if (!failure.source) return failure.finding;
  Finding f = explain(*failure.source, failure.hunk, failure.rule, failure.unplaced);
  f.origin.file = failure.finding.origin.file;
  return f;
}

std::vector<Finding> explained(const std::vector<TrialFailure>& failures) {
  std::vector<Finding> out;
  out.reserve(failures.size());
  for (const TrialFailure& failure : failures)
    out.push_back(explained(failure));
  return out;
}

TrialCache::Known& TrialCache::known(const Patch& patch, const FileChange& change,
                                     const std::shared_ptr<const Source>& before, ScopeRule rule) {
  const auto [known, fresh] = known_.try_emplace({before, patch.name, change.line, rule});
  if (fresh) known->second.trial = try_section(patch, change, before, rule);
  return known->second;
}

const SectionTrial& TrialCache::trial(const Patch& patch, const FileChange& change,
                                      const std::shared_ptr<const Source>& before, ScopeRule rule) {
  return known(patch, change, before, rule).trial;
}

const SectionResult& TrialCache::result(const Patch& patch, const FileChange& change,
                                        const std::shared_ptr<const Source>& before,
                                        ScopeRule rule) {
  Known& k = known(patch, change, before, rule);
  if (!k.result) k.result = finish_section(patch, change, before, rule, k.trial);
  return *k.result;
}

}  // namespace patcher
