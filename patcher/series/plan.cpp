#include "patcher/series/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "patcher/series/read_ahead.h"
#include "patcher/tree/nearest_path.h"

namespace patcher {
namespace {

PatchPlan blank_plan(const Series& series, size_t i, const FileMap& before) {
  const Patch& patch = series.patches[i];
  return {.number = i + 1,
          .patch = &patch,
          .paths = named_paths(patch),
          .before = before,
          .after = before};
}

// How many of the first patches are in the tree: the greatest k such that patches k, k-1, ..., 1
// come off one after the other (later patches may have changed lines of earlier ones). states[i] is
// the tree with the first i patches.
struct SeriesState {
  size_t applied = 0;
  std::vector<FileMap> states = {};
};

SeriesState state_of(const Series& series, const FileMap& on_disk, TrialCache& cache) {
  for (size_t k = series.patches.size(); k > 0; --k) {
    std::vector<FileMap> states{on_disk};
    for (size_t i = k; i > 0; --i) {
      const Patch& patch = series.patches[i - 1];
      auto without = patch.usable() ? take_off(patch, states.back(), cache) : std::nullopt;
      if (!without) break;
      states.push_back(std::move(*without));
    }
    if (states.size() != k + 1) continue;
    std::reverse(states.begin(), states.end());
    return {.applied = k, .states = std::move(states)};
  }
  return {.applied = 0, .states = {on_disk}};
}

class ApplyPlanner {
 public:
  ApplyPlanner(const Series& series, const FileMap& on_disk, Review* review, InTree in_tree)
      : series_(series),
        review_(review),
        in_tree_(in_tree),
        plan_{.on_disk = on_disk, .result = on_disk} {}

  Plan run() {
    SeriesState state = state_of(series_, plan_.on_disk, cache_);
    plan_.applied = state.applied;
    for (size_t i = 0; i < state.applied; ++i) {
      PatchPlan p = blank_plan(series_, i, state.states[i]);
      p.after = state.states[i + 1];
      p.verdict = Verdict::kAlreadyApplied;
      if (review_ != nullptr) review_in_place(p, p.after, p.before);
      if (in_tree_ == InTree::kUpstream && p.verdict == Verdict::kAlreadyApplied)
        obsolete(p, "its change is in the tree");
      plan_.patches.push_back(std::move(p));
    }
    try_ahead(series_, state.applied, plan_.on_disk, cache_);
    for (size_t i = state.applied; i < series_.patches.size(); ++i)
      judge_next(i);
    if (plan_.refused()) {
      add_order_hints();
      if (review_ != nullptr) add_carry_hints();
      plan_.result = plan_.on_disk;
    }
    return std::move(plan_);
  }

 private:
  void judge_next(size_t i) {
    PatchPlan p = blank_plan(series_, i, plan_.result);
    if (!p.patch->usable()) {
      p.verdict = p.patch->errors.front().verdict;
      p.findings = p.patch->errors;
    } else {
      Judgement j = judge(*p.patch, p.before, cache_);
      p.verdict = j.verdict;
      p.findings = explained(j.failures);
      add_nearest_paths(p);
      for (Finding& note : j.notes) {
        if (is_news(note)) p.notes.push_back(std::move(note));
      }
      p.after = std::move(j.after);
      if (p.verdict == Verdict::kAlreadyApplied && review_ != nullptr) {
        if (const auto without = take_off(*p.patch, p.before, cache_))
          review_in_place(p, p.before, *without);
      }
      if (p.verdict == Verdict::kAlreadyApplied) already(p);
      if (p.verdict == Verdict::kApplies && review_ != nullptr) review(p);
    }
    forget_versions_before(p);
    plan_.result = p.after;
    plan_.patches.push_back(std::move(p));
  }

  static void add_nearest_paths(PatchPlan& p) {
    for (Finding& f : p.findings) {
      if (f.verdict != Verdict::kFileMissing) continue;
      if (const auto near = nearest_path(p.before.list(), f.place.file))
        f.message += fmt::format("; nearest: {}", *near);
    }
  }

  // Of what the series makes of a file only the bytes are asked for once the next patch is judged.
  void forget_versions_before(const PatchPlan& p) const {
    for (const std::string& path : p.paths) {
      if (!is_safe_path(path)) continue;
      const auto old = p.before.get(path).source;
      const bool made = old != nullptr && old != plan_.on_disk.get(path).source;
      if (made && old != p.after.get(path).source) old->forget();
    }
  }

  void review(PatchPlan& p) const {
    p.findings = review_->objections(p.number - 1, p.before, p.after);
    if (p.findings.empty()) return;
    p.verdict = p.findings.front().verdict;
    p.after = p.before;
  }

  void review_in_place(PatchPlan& p, const FileMap& target, const FileMap& without) const {
    p.findings = review_->objections_in_place(p.number - 1, target, without);
    if (!p.findings.empty()) p.verdict = p.findings.front().verdict;
  }

  // What there is to note of a file is told once, with the first patch that changes it; its numbers
  // in brackets may be others for the next.
  bool is_news(const Finding& note) {
    const std::string what = note.message.substr(0, note.message.find('('));
    return note.place.file.empty() || told_.insert({note.place.file, what}).second;
  }

  // In the tree although a patch before it is not: nobody applied it as part of this series.
  void already(PatchPlan& p) const {
    if (in_tree_ == InTree::kUpstream) return obsolete(p, "its change is in the tree");
    const auto pending =
        std::find_if(plan_.patches.begin(), plan_.patches.end(),
                     [](const auto& q) { return q.verdict != Verdict::kAlreadyApplied; });
    if (pending == plan_.patches.end()) return;
    obsolete(p, fmt::format("its change is in the tree although patch {} is not", pending->number));
    p.findings.back().hints.push_back(fmt::format(
        "or it was applied without patch {}: a series of it alone reverts it", pending->number));
  }

  static void obsolete(PatchPlan& p, std::string message) {
    p.verdict = Verdict::kObsolete;
    Finding f = Finding::of(Verdict::kObsolete, at_line(p.patch->name), std::move(message));
    f.hints.push_back(fmt::format("upstream has it: drop patch {}", p.number));
    p.findings.push_back(std::move(f));
  }

  // "would apply after patch 5" for an anchor that a later patch of the series makes.
  void add_order_hints() {
    for (PatchPlan& p : plan_.patches) {
      const bool absent = p.verdict == Verdict::kMissing || p.verdict == Verdict::kFileMissing ||
                          p.verdict == Verdict::kOutdated;
      if (!absent) continue;
      for (const PatchPlan& later : plan_.patches) {
        if (later.number <= p.number || later.verdict != Verdict::kApplies) continue;
        if (!try_whole(*p.patch, later.after, ScopeRule::kStrict, cache_)) continue;
        p.findings.front().hints.push_back(
            fmt::format("would apply after patch {} ({})", later.number, later.patch->name));
        break;
      }
    }
  }

  void add_carry_hints() {
    for (PatchPlan& p : plan_.patches) {
      const bool no_place = p.verdict == Verdict::kMissing || p.verdict == Verdict::kAmbiguous ||
                            p.verdict == Verdict::kFileMissing;
      if (!no_place) continue;
      Finding& f = p.findings.front();
      for (std::string& hint : review_->hints(p.number - 1, plan_.on_disk, f.message))
        f.hints.push_back(std::move(hint));
    }
  }

  const Series& series_;
  Review* review_;  // may be null
  InTree in_tree_;
  Plan plan_;
  TrialCache cache_;
  std::set<std::pair<std::string, std::string>> told_;
};

// Whether the tree is for certain without a patch: it could be applied, or does nothing.
bool is_without(Verdict verdict) {
  return verdict == Verdict::kApplies || verdict == Verdict::kNoEffect;
}

// Neither is in the tree for certain, the patch or what it needs.
void unknown(PatchPlan& p) {
  Finding f = Finding::of(p.verdict, at_line(p.patch->name),
                          "neither the patch nor what it needs is recognised in the tree: whether "
                          "it is applied is not known");
  p.findings.insert(p.findings.begin(), std::move(f));
  p.after = p.before;
}

// In the tree, but not as the top of what can be taken off in order.
void tangled(PatchPlan& p) {
  p.verdict = Verdict::kOutdated;
  p.findings.push_back(Finding::of(p.verdict, at_line(p.patch->name),
                                   "it is in the tree, but the patches before it do not come off"));
}

}  // namespace

bool Plan::refused() const {
  return std::any_of(patches.begin(), patches.end(),
                     [](const PatchPlan& p) { return is_refusal(p.verdict); });
}

Verdict Plan::verdict() const {
  Verdict all = patches.empty() ? Verdict::kApplies : Verdict::kAlreadyApplied;
  for (const PatchPlan& p : patches) {
    if (is_refusal(p.verdict)) return p.verdict;
    if (p.verdict == Verdict::kApplies) all = Verdict::kApplies;
  }
  return all;
}

Plan plan_apply(const Series& series, const FileMap& on_disk, Review* review, InTree in_tree) {
  read_ahead(series, on_disk);
  return ApplyPlanner(series, on_disk, review, in_tree).run();
}

std::vector<Finding> applied_above(const Series& series, size_t count, const FileMap& on_disk) {
  std::vector<Finding> out;
  for (size_t i = count; i < series.patches.size(); ++i) {
    const Patch& patch = series.patches[i];
    if (!patch.usable() || !take_off(patch, on_disk)) continue;
    out.push_back(
        Finding::of(Verdict::kOutdated, at_line(patch.name),
                    fmt::format("it is applied, and patch {} below it would come off", count)));
    out.back().hints.push_back("revert without --until takes both off");
  }
  return out;
}

Plan plan_revert(const Series& series, const FileMap& on_disk) {
  Plan forward = plan_apply(series, on_disk);
  Plan plan{.applied = forward.applied, .on_disk = on_disk, .result = on_disk};
  for (size_t i = forward.patches.size(); i-- > 0;) {
    PatchPlan p = std::move(forward.patches[i]);
    if (i >= forward.applied && p.verdict == Verdict::kAlreadyApplied) tangled(p);
    const bool foreign = p.verdict == Verdict::kObsolete || p.verdict == Verdict::kOutdated ||
                         p.verdict == Verdict::kMalformed;
    if (i < forward.applied) {
      std::swap(p.before, p.after);
      p.verdict = Verdict::kApplies;
      plan.result = p.after;
    } else if (!foreign && !is_without(p.verdict) && p.verdict != Verdict::kAlreadyApplied) {
      unknown(p);
    } else if (!foreign) {
      p.after = p.before = on_disk;
      p.verdict = Verdict::kAlreadyApplied;
      p.findings.clear();
      p.notes.clear();
    }
    plan.patches.push_back(std::move(p));
  }
  if (plan.refused()) plan.result = on_disk;
  return plan;
}

}  // namespace patcher
