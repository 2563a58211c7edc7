#include "patcher/report/reporter.h"

#include <fmt/format.h>

#include "patcher/base/counted.h"
#include "patcher/report/diff.h"
#include "patcher/report/diff_view.h"
#include "patcher/report/json_report.h"
#include "patcher/report/stored_diffs.h"
#include "patcher/report/text_report.h"
#include "patcher/text/printable.h"

namespace patcher {
namespace {

// Of a plan that was told, with what differs from the stored diffs.
int code_of(const Plan& plan, const PlanRun& run, const std::vector<std::string>& drift) {
  const Verdict verdict = plan.verdict();
  if (is_refusal(verdict)) return exit_code(verdict);
  if (!drift.empty()) return kExitDiffsDrifted;
  return run.expect_changes ? exit_code(verdict) : 0;
}

int code_of(const std::vector<CarriedPatch>& patches) {
  for (const CarriedPatch& p : patches) {
    if (p.outcome == CarryOutcome::kNeedsPerson) return exit_code(p.findings.front().verdict);
  }
  return 0;
}

}  // namespace

void Reporter::committed(const std::string& branch, std::vector<std::string> commits) {
  branch_ = branch;
  commits_ = std::move(commits);
}

int Reporter::broken(const std::string& what) {
  if (format_ == Format::kJson) json({{"exit_code", kExitEnvironment}, {"error", what}});
  if (format_ == Format::kGithub) console_.bytes(github_failure(what));
  console_.err({"patcher: ", what});
  return kExitEnvironment;
}

int Reporter::malformed(const std::vector<Finding>& errors, const std::string& root) {
  const Verdict verdict = errors.front().verdict;
  if (annotates()) {
    annotate(remarks_of(errors), root.empty() ? paths_.root : root);
  } else if (format_ == Format::kJson) {
    json({{"verdict", verdict_name(verdict)},
          {"exit_code", exit_code(verdict)},
          {"written", 0},
          {"findings", findings_json(errors)},
          {"patches", nlohmann::json::array()}});
  } else {
    print_findings(console_, errors);
  }
  return exit_code(verdict);
}

int Reporter::plan(const Plan& plan, const PlanRun& run) {
  std::vector<std::string> drift;
  if (!run.diffs.empty() && !plan.refused()) drift = compare_diffs(plan, run.diffs);
  const int code = code_of(plan, run, drift);
  if (format_ == Format::kJson) {
    nlohmann::json object = plan_object(plan, run);
    object["exit_code"] = code;
    object["drift"] = drift;
    json(std::move(object));
  } else if (annotates()) {
    std::vector<Remark> remarks = remarks_of(plan);
    for (Remark& remark : drift_remarks(drift, run.diffs))
      remarks.push_back(std::move(remark));
    annotate(remarks, paths_.root);
  } else {
    print_plan_text(plan, run, drift);
  }
  return code;
}

int Reporter::diffs(const Plan& plan, const PlanRun& run, const DiffView& view) {
  if (plan.refused() || format_ == Format::kJson) return this->plan(plan, run);
  for (const PatchPlan& patch : plan.patches) {
    console_.out({"# ", patch.patch->name, ": ", patch.patch->subject});
    print_diff(patch, view);
  }
  return code_of(plan, run, {});
}

int Reporter::stored(const Plan& plan, const PlanRun& run, const std::string& directory) {
  if (!plan.refused()) store_diffs(plan, directory);
  if (plan.refused() || format_ == Format::kJson) return this->plan(plan, run);
  console_.out({counted(plan.patches.size(), "diff"), " in ", directory});
  return code_of(plan, run, {});
}

int Reporter::drift(const Drift& drift) {
  if (format_ == Format::kJson) {
    json(drift_json(drift));
  } else {
    print_drift(console_, drift);
  }
  return exit_code(drift.verdict());
}

int Reporter::carried(const std::vector<CarriedPatch>& patches, const std::string& out_dir) {
  const int code = code_of(patches);
  if (format_ == Format::kJson) {
    nlohmann::json object = carried_json(patches);
    object["exit_code"] = code;
    json(std::move(object));
  } else {
    print_revisions();
    print_carried(console_, patches, out_dir);
  }
  return code;
}

void Reporter::imported(const std::vector<std::string>& names, const std::string& out_dir) {
  if (format_ == Format::kJson) return json({{"exit_code", 0}, {"patches", names}});
  print_revisions();
  console_.out({counted(names.size(), "patch"), " in ", out_dir});
}

void Reporter::progress(size_t done, size_t total, std::string_view noun) {
  if (format_ == Format::kText) console_.progress(done, total, noun);
}

void Reporter::annotate(const std::vector<Remark>& remarks, const std::string& root) {
  const ReportPaths paths{root, paths_.series};
  console_.bytes(format_ == Format::kGithub ? github_annotations(remarks, paths)
                                            : json_text(sarif_log(remarks, paths)));
}

void Reporter::json(nlohmann::json object) {
  const auto add = [&](const char* key, const std::optional<Revision>& revision) {
    if (revision) object[key] = {{"asked", revision->asked}, {"commit", revision->commit}};
  };
  object["verb"] = verb_;
  add("rev", revision_);
  add("base_rev", base_);
  console_.bytes(json_text(object));
}

void Reporter::print_revision(const char* what, const std::optional<Revision>& revision) {
  if (!revision) return;
  const std::string summary = printable(revision->summary);
  console_.out({what, " ", revision->display(), summary.empty() ? "" : " ", summary});
}

void Reporter::print_diff(const PatchPlan& patch, const DiffView& view) {
  if (view.kind == DiffView::Kind::kStat) return console_.bytes(patch_stat(patch));
  if (view.kind == DiffView::Kind::kSideBySide) {
    return console_.bytes(side_by_side(patch, view.width, console_.color()));
  }
  if (console_.color()) return console_.bytes(colored_diff(patch));
  return console_.is_watched() ? console_.page(patch_diff(patch))
                               : console_.bytes(patch_diff(patch));
}

void Reporter::print_revisions() {
  print_revision("base", base_);
  print_revision("at", revision_);
}

nlohmann::json Reporter::plan_object(const Plan& plan, const PlanRun& run) const {
  nlohmann::json object = plan_json(plan, run.written);
  if (!branch_.empty()) object["commit"] = {{"branch", branch_}, {"commits", commits_}};
  for (size_t i = 0; verb_ == "diff" && i < plan.patches.size(); ++i)
    object["patches"][i]["diff"] = patch_diff(plan.patches[i]);
  return object;
}

void Reporter::print_plan_text(const Plan& plan, const PlanRun& run,
                               const std::vector<std::string>& drift) {
  print_revisions();
  print_plan(console_, plan, verb_ == "revert", run.written);
  if (!commits_.empty()) {
    console_.out({counted(commits_.size(), "commit"), " on ", branch_, ", the last is ",
                  commits_.back().substr(0, 12)});
  }
  for (const std::string& message : drift)
    console_.err({run.diffs, "/", message});
}

}  // namespace patcher
