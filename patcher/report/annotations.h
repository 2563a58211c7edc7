#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "patcher/series/plan.h"

namespace patcher {

// The report for machines that show findings beside the code.

// How the places of findings are named for the reader, who stands in the working directory.
struct ReportPaths {
  std::string root;    // of files of the tree
  std::string series;  // the series file, beside which the patches lie
};

struct Remark {
  bool error = true;
  std::string rule = {};  // a verdict's name, "note" or "drift"
  Finding finding = {};
};
// The notes and findings of all patches of a plan.
std::vector<Remark> remarks_of(const Plan& plan);
std::vector<Remark> remarks_of(const std::vector<Finding>& errors);
// `messages` are those of compare_diffs, `directory` where the diffs lie.
std::vector<Remark> drift_remarks(const std::vector<std::string>& messages,
                                  const std::string& directory);

// Workflow commands, a line each: "::error file=...,line=...,col=...,title=...::message".
std::string github_annotations(const std::vector<Remark>& remarks, const ReportPaths& paths);

// The annotation of a run that came to no verdict, which has no place.
std::string github_failure(const std::string& what);

// A SARIF 2.1.0 log with one run; every verdict is a rule.
nlohmann::json sarif_log(const std::vector<Remark>& remarks, const ReportPaths& paths);

}  // namespace patcher
