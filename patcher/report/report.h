#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "patcher/series/plan.h"

namespace patcher {

enum class Verb { kCheck, kDiff, kApply, kRevert, kDrift, kImport, kCarry };
std::string_view verb_name(Verb verb);

struct ReportStyle {
  bool color = false;
};

// One line a patch (number, verdict, name, files, lines, subject), the findings as compilers write
// them, and a summary. `written` is the number of files written; -1 for a dry run.
void report_text(std::ostream& out, std::ostream& err, const Plan& plan, Verb verb, int written,
                 const ReportStyle& style);

// Findings alone, for what is wrong before there is a plan.
void report_findings(std::ostream& err, const std::vector<Finding>& findings,
                     const ReportStyle& style);

// The same as one JSON object; its keys are a promise:
//   verb, verdict, exit_code, written, patches[{number, name, subject, verdict, exit_code,
//   files[{path, added, removed, language}], findings[], notes[]}]; a finding is {verdict, message,
//   file, line, column, patch, patch_line, hints[], candidates[{file, line, column, scope,
//   conditional, text}]}.
nlohmann::json report_json(const Plan& plan, Verb verb, int written);
nlohmann::json findings_json(const std::vector<Finding>& findings);

}  // namespace patcher
