#include "patcher/series/section_trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/syntax/health.h"

namespace patcher {
namespace {

class SectionRun {
 public:
  SectionRun(const Patch& patch, const FileChange& change, ScopeRule rule, Failures failures)
      : patch_(patch), change_(change), rule_(rule), failures_(failures) {}

  SectionTrial run(const std::shared_ptr<const Source>& before) {
    std::vector<ByteEdit> edits;
    for (size_t i = 0; i < change_.hunks.size(); ++i) {
      if (failures_ == Failures::kFirst && !out_.failures.empty()) break;
      out_.parts.push_back({.what = fmt::format("hunk {} of {} (line {})", i + 1, change_.path,
                                                change_.hunks[i].line)});
      if (before) hunk(*before, change_.hunks[i], edits);
    }
    if (before && out_.failures.empty() && wants_result()) finish(before, std::move(edits));
    return std::move(out_);
  }

 private:
  void fail(Verdict verdict, Place place, std::string message) {
    out_.failures.push_back({.verdict = verdict,
                             .place = std::move(place),
                             .origin = {.file = patch_.name, .line = change_.line, .column = 1},
                             .message = std::move(message)});
  }

  void hunk(const Source& source, const Hunk& hunk, std::vector<ByteEdit>& edits) {
    HunkResult result = locate_hunk(source, hunk, rule_, failures_);
    if (result.failure) {
      result.failure->origin.file = patch_.name;
      out_.failures.push_back(std::move(*result.failure));
      return;
    }
    TrialPart& part = out_.parts.back();
    part.done = true;
    part.anchor_size = result.anchor_size;
    part.changes = !result.edits.empty();
    std::move(result.edits.begin(), result.edits.end(), std::back_inserter(edits));
  }

  bool wants_result() const {
    return failures_ != Failures::kParts ||
           std::any_of(patch_.changes.begin(), patch_.changes.end(), [&](const FileChange& other) {
             return &other > &change_ && other.path == change_.path;
           });
  }

  void finish(const std::shared_ptr<const Source>& before, std::vector<ByteEdit> edits) {
    sort_edits(edits);
    if (const auto at = first_overlap(edits)) {
      return fail(Verdict::kOverlaps, before->place(*at), "two hunks change the same bytes");
    }
    auto next = Source::edited(before, std::move(edits));
    if (rule_ == ScopeRule::kStrict && !parses_no_worse(*before, *next)) return;
    out_.after = std::move(next);
  }

  bool parses_no_worse(const Source& before, const Source& after) {
    if (!after.unreadable().empty()) {
      fail(Verdict::kDamagedParse, {.file = change_.path}, "after the edit " + after.unreadable());
      return false;
    }
    const auto damage = new_damage(before, after);
    if (!damage) return true;
    fail(Verdict::kDamagedParse, {.file = change_.path},
         fmt::format("after the edit the file parses worse than before ({}): `{}`",
                     describe(after, *damage), after.candidate(damage->begin).text));
    return false;
  }

  const Patch& patch_;
  const FileChange& change_;
  ScopeRule rule_;
  Failures failures_;
  SectionTrial out_;
};

}  // namespace

SectionTrial try_section(const Patch& patch, const FileChange& change,
                         const std::shared_ptr<const Source>& before, ScopeRule rule,
                         Failures failures) {
  return SectionRun(patch, change, rule, failures).run(before);
}

const SectionTrial* TrialCache::find(const Key& key) const {
  const auto found = trials_.find(key);
  return found != trials_.end() ? &found->second : nullptr;
}

}  // namespace patcher
