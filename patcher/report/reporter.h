#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "patcher/carry/carry_series.h"
#include "patcher/drift/drift.h"
#include "patcher/git/repository.h"
#include "patcher/report/annotations.h"
#include "patcher/report/console.h"
#include "patcher/series/plan.h"

namespace patcher {

enum class Format { kText, kJson, kGithub, kSarif };

// How the patches of a plan are shown by `diff`.
struct DiffView {
  enum class Kind { kUnified, kStat, kSideBySide } kind = Kind::kUnified;
  size_t width = 0;  // of kSideBySide, in columns
};

// What is to be told of a plan beside it.
struct PlanRun {
  int written = -1;             // files; negative for a dry run
  bool expect_changes = false;  // nothing to do is no success
  std::string diffs = {};       // the directory of stored diffs to compare with, if any
};

// Shows what a run came to, in the format that was asked for. Nothing else prints. What can be
// refused gives the exit code for it.
class Reporter {
 public:
  // `verb` is named in JSON; `paths` says how the places of annotations are named.
  Reporter(std::string_view verb, Format format, ReportPaths paths, Console& console)
      : verb_(verb), format_(format), paths_(std::move(paths)), console_(console) {}

  // What the plan or the drift is shown with: the revision that was judged, the one that the
  // patches were made from, and the branch and commits that were made.
  void judged(Revision revision) { revision_ = std::move(revision); }
  void based_on(Revision revision) { base_ = std::move(revision); }
  void committed(const std::string& branch, std::vector<std::string> commits);

  // Says why the run came to no verdict. A SARIF log of that would read as one without findings,
  // and close those that are open; there is none. Gives kExitEnvironment.
  int broken(const std::string& what);
  // Shows what is wrong before any tree is judged. `root`: the tree that the findings' places are
  // in, by default the one that is patched. REQUIRES errors.
  int malformed(const std::vector<Finding>& errors, const std::string& root = {});

  int plan(const Plan& plan, const PlanRun& run = {});
  // Shows the patches of a plan that is not refused as diffs: their bytes, or as a terminal may
  // show them. A refused plan is shown as plan() does.
  int diffs(const Plan& plan, const PlanRun& run, const DiffView& view);
  // Stores the diffs of a plan that is not refused as files of the directory, and says how many.
  int stored(const Plan& plan, const PlanRun& run, const std::string& directory);
  int drift(const Drift& drift);
  int carried(const std::vector<CarriedPatch>& patches, const std::string& out_dir);
  void imported(const std::vector<std::string>& names, const std::string& out_dir);

  // Tells people something beside what the run comes to, on standard error.
  void note(const std::string& text) { console_.err({"note: ", text}); }
  void progress(size_t done, size_t total, std::string_view noun);

 private:
  bool annotates() const { return format_ == Format::kGithub || format_ == Format::kSarif; }
  void annotate(const std::vector<Remark>& remarks, const std::string& root);
  // Prints `object` with the verb and the revisions.
  void json(nlohmann::json object);
  void print_revision(const char* what, const std::optional<Revision>& revision);
  void print_diff(const PatchPlan& patch, const DiffView& view);
  void print_revisions();
  nlohmann::json plan_object(const Plan& plan, const PlanRun& run) const;
  void print_plan_text(const Plan& plan, const PlanRun& run, const std::vector<std::string>& drift);

  const std::string verb_;
  const Format format_;
  const ReportPaths paths_;
  Console& console_;
  std::optional<Revision> revision_;
  std::optional<Revision> base_;
  std::string branch_;
  std::vector<std::string> commits_;
};

}  // namespace patcher
