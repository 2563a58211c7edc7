#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "patcher/drift/drift.h"
#include "patcher/report/report.h"

namespace patcher {

// Each patch's verdict at the end of the range, below it the commits at which the verdict changed,
// and on `err` why the refused ones are.
void report_drift(std::ostream& out, std::ostream& err, const Drift& drift,
                  const ReportStyle& style);

// The same as one JSON object; its keys are a promise:
//   verb, verdict, exit_code, range, from, to, commits, touching, first_parent, patches[{number,
//   name, subject, verdict, exit_code, judged, first_break, obsolete_since, events[{commit, date,
//   summary, verdict, findings[]}], findings[]}]; first_break and obsolete_since are commits or
//   null, `findings` are those of the end of the range (see report.h).
nlohmann::json drift_json(const Drift& drift);

}  // namespace patcher
