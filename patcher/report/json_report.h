#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "patcher/carry/carry_series.h"
#include "patcher/drift/drift.h"
#include "patcher/series/plan.h"

namespace patcher {

// What runs came to, as one JSON object each. The keys are a promise. A finding is {verdict,
// message, file, line, column, patch, patch_line, hints[], candidates[{file, line, column, scope,
// conditional, text}]}.
nlohmann::json findings_json(const std::vector<Finding>& findings);

// {verdict, written, patches[{number, name, subject, verdict, exit_code, files[{path, added,
// removed, language}], findings[], notes[]}]}. `written` files were written; a negative number is a
// dry run, for which the object has 0.
nlohmann::json plan_json(const Plan& plan, int written);

// {verdict, exit_code, range, from, to, commits, touching, first_parent, patches[{number, name,
// subject, verdict, exit_code, judged, first_break, obsolete_since, events[{commit, date, summary,
// verdict, findings[]}], findings[]}]}; first_break and obsolete_since are commits or null,
// `findings` are those of the end of the range.
nlohmann::json drift_json(const Drift& drift);

// {patches[{name, subject, outcome, findings[], notes[]}]}
nlohmann::json carried_json(const std::vector<CarriedPatch>& patches);

// The object as a text of several lines, without any raw control character but line ends. Bytes
// that are not UTF-8 come from patched files; JSON cannot carry them, and has U+FFFD instead.
std::string json_text(const nlohmann::json& object);

}  // namespace patcher
