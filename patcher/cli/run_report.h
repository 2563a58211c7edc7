#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "patcher/cli/options.h"
#include "patcher/git/repository.h"
#include "patcher/report/annotations.h"
#include "patcher/report/report.h"
#include "patcher/series/plan.h"
#include "patcher/write/commit_series.h"

namespace patcher {

// Tells what a run came to, in the --format that was asked for, and gives the exit code for it.
class RunReport {
 public:
  RunReport(const Options& options, const ReportStyle& style, std::ostream& out, std::ostream& err)
      : options_(options), style_(style), out_(out), err_(err) {}

  // To be told with the rest: the revision that was judged, the one that the patches were made
  // from, the commits that were made.
  void judged(Revision revision) { revision_ = std::move(revision); }
  void based_on(Revision revision) { base_ = std::move(revision); }
  void committed(Committed done) { committed_ = std::move(done); }

  // What is wrong before any tree is judged. `root`: the tree that the findings' places are in, by
  // default --root. REQUIRES errors.
  int malformed(const std::vector<Finding>& errors, const std::string& root);
  int malformed(const std::vector<Finding>& errors) { return malformed(errors, options_.root); }
  // What there is no verdict without. A SARIF log of it would read as one without findings, and
  // close those that are open; there is none.
  int broken(const std::string& what);
  // `written`: how many files, negative for a dry run. Compares with the stored --diffs.
  int plan(const Plan& plan, int written);

  void add_revisions(nlohmann::json& j) const;
  void print_revisions();
  // Bytes that are not UTF-8 come from patched files; JSON cannot carry them as they are.
  void json(const nlohmann::json& j);

 private:
  bool for_machines() const { return options_.format == "github" || options_.format == "sarif"; }
  void annotate(const std::vector<Remark>& remarks, const std::string& root);
  void plan_json(const Plan& plan, int written, int code, const std::vector<std::string>& drift);
  void plan_text(const Plan& plan, int written, const std::vector<std::string>& drift);
  int final_code(const Plan& plan, const std::vector<std::string>& drift) const;

  const Options& options_;
  const ReportStyle style_;
  std::ostream& out_;
  std::ostream& err_;
  std::optional<Revision> revision_;
  std::optional<Revision> base_;
  std::optional<Committed> committed_;
};

}  // namespace patcher
