#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/git/history.h"
#include "patcher/series/series.h"

namespace patcher {

// A commit at which what is said of a patch changes.
struct DriftEvent {
  Revision at = {};
  Verdict verdict = Verdict::kApplies;
  std::vector<Finding> findings = {};  // of that commit
  std::vector<Finding> latest = {};    // of the last commit with this verdict that changed it
};

struct PatchDrift {
  const Patch* patch = nullptr;
  // The first one is the state at the begin of the range; each other one has another verdict than
  // the one before it.
  std::vector<DriftEvent> events = {};
  size_t judged = 0;  // at so many commits; the others did not change what the patch is judged on

  const DriftEvent& last() const { return events.back(); }
  // The first commit that breaks it: refused, and not because upstream has it. Null if none does.
  const DriftEvent* first_break() const;
  // Since when upstream has the change; null when it does not at the end of the range.
  const DriftEvent* obsolete_since() const;
};

struct Drift {
  History history = {};
  size_t touching = 0;  // commits after the first that change a file which the series names
  std::vector<PatchDrift> patches = {};

  // Of the first patch that is refused at the end of the range, or kApplies.
  Verdict verdict() const;
};

// Versions of the series' files, done and in all. Called by one thread at a time, not always the
// same.
using DriftProgress = std::function<void(size_t done, size_t total)>;

// Judges the series, unapplied, at every commit of the history: patch k on the result of patches
// 1..k-1, as a dry run there would. Reads only blobs that changed, and judges a patch again only
// where the files that it is judged on differ; patches that share no file are followed on all
// cores. A change that is in the tree is obsolete here, since upstream made it. REQUIRES
// series.errors.empty() and every patch usable().
Drift follow_drift(const std::shared_ptr<const Repository>& repository, const Series& series,
                   History history, const DriftProgress& progress = {});

}  // namespace patcher
