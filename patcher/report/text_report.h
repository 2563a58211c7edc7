#pragma once

#include <string>
#include <vector>

#include "patcher/carry/carry_series.h"
#include "patcher/drift/drift.h"
#include "patcher/report/console.h"
#include "patcher/series/plan.h"

namespace patcher {

// What runs came to, for people. Verdicts go to standard output, findings, as compilers write them,
// to standard error.

void print_findings(Console& console, const std::vector<Finding>& findings);

// One line a patch (number, verdict, name, files, lines, subject), the findings and notes, and a
// summary. `revert`: the plan takes patches off. `written` is the number of files written; -1 for a
// dry run.
void print_plan(Console& console, const Plan& plan, bool revert, int written);

// Each patch's verdict at the end of the range, below it the commits at which the verdict changed,
// why the refused ones are, and a summary.
void print_drift(Console& console, const Drift& drift);

// One line a patch, why a person is needed, and a last line that counts and says where the series
// was written.
void print_carried(Console& console, const std::vector<CarriedPatch>& patches,
                   const std::string& out_dir);

}  // namespace patcher
