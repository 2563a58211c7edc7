#include "patcher/cli/run_report.h"

#include <fmt/format.h>

#include "patcher/report/diff.h"
#include "patcher/report/stored_diffs.h"
#include "patcher/report/text_columns.h"

namespace patcher {

int RunReport::malformed(const std::vector<Finding>& errors, const std::string& root) {
  const Verdict verdict = errors.front().verdict;
  if (for_machines()) {
    annotate(remarks_of(errors), root);
  } else if (options_.json) {
    json({{"verb", verb_name(options_.verb)},
          {"verdict", verdict_name(verdict)},
          {"exit_code", exit_code(verdict)},
          {"written", 0},
          {"findings", findings_json(errors)},
          {"patches", nlohmann::json::array()}});
  } else {
    report_findings(err_, errors, style_);
  }
  return exit_code(verdict);
}

int RunReport::plan(const Plan& plan, int written) {
  std::vector<std::string> drift;
  if (!options_.diffs.empty() && !plan.refused()) drift = compare_diffs(plan, options_.diffs);
  const int code = final_code(plan, drift);
  if (options_.json) {
    plan_json(plan, written, code, drift);
  } else if (for_machines()) {
    std::vector<Remark> remarks = remarks_of(plan);
    for (Remark& remark : drift_remarks(drift, options_.diffs))
      remarks.push_back(std::move(remark));
    annotate(remarks, options_.root);
  } else {
    plan_text(plan, written, drift);
  }
  return code;
}

void RunReport::plan_json(const Plan& plan, int written, int code,
                          const std::vector<std::string>& drift) {
  nlohmann::json j = report_json(plan, options_.verb, written);
  j["exit_code"] = code;
  j["drift"] = drift;
  add_revisions(j);
  if (committed_) {
    j["commit"] = {{"branch", committed_->branch}, {"commits", committed_->commits}};
  }
  for (size_t i = 0; options_.verb == Verb::kDiff && i < plan.patches.size(); ++i) {
    j["patches"][i]["diff"] = patch_diff(plan.patches[i]);
  }
  json(j);
}

void RunReport::plan_text(const Plan& plan, int written, const std::vector<std::string>& drift) {
  print_revisions();
  report_text(out_, err_, plan, options_.verb, written, style_);
  if (committed_ && !committed_->commits.empty()) {
    out_ << fmt::format("{} commits on {}, the last is {}\n", committed_->commits.size(),
                        committed_->branch, committed_->commits.back().substr(0, 12));
  }
  for (const std::string& message : drift)
    err_ << options_.diffs << "/" << message << "\n";
}

int RunReport::broken(const std::string& what) {
  if (options_.json) {
    json({{"verb", verb_name(options_.verb)}, {"exit_code", kExitEnvironment}, {"error", what}});
  } else if (options_.format == "github") {
    out_ << github_failure(what);
  }
  err_ << "patcher: " << printable(what) << "\n";
  return kExitEnvironment;
}

void RunReport::add_revisions(nlohmann::json& j) const {
  const auto add = [&](const char* key, const std::optional<Revision>& revision) {
    if (revision) j[key] = {{"asked", revision->asked}, {"commit", revision->commit}};
  };
  add("rev", revision_);
  add("base_rev", base_);
}

void RunReport::print_revisions() {
  const auto print = [&](const char* what, const std::optional<Revision>& revision) {
    if (!revision) return;
    const std::string summary = printable(revision->summary);
    out_ << fmt::format("{} {}{}{}\n", what, revision->display(), summary.empty() ? "" : " ",
                        summary);
  };
  print("base", base_);
  print("at", revision_);
}

void RunReport::json(const nlohmann::json& j) {
  out_ << j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

void RunReport::annotate(const std::vector<Remark>& remarks, const std::string& root) {
  const ReportPaths paths{root, options_.series};
  if (options_.format == "github") {
    out_ << github_annotations(remarks, paths);
  } else {
    json(sarif_log(remarks, paths));
  }
}

int RunReport::final_code(const Plan& plan, const std::vector<std::string>& drift) const {
  const Verdict verdict = plan.verdict();
  if (is_refusal(verdict)) return exit_code(verdict);
  if (!drift.empty()) return kExitDiffsDrifted;
  const bool nothing = verdict == Verdict::kAlreadyApplied;
  return nothing && options_.expect_changes ? exit_code(verdict) : 0;
}

}  // namespace patcher
