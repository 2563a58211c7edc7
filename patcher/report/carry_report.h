#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "patcher/carry/carry_series.h"
#include "patcher/report/report.h"

namespace patcher {

// 0, or the exit code of the first patch that needs a person.
int carry_exit_code(const std::vector<CarriedPatch>& patches);

// One line a patch on `out`, why a person is needed on `err`, and a last line that counts and says
// where the series was written.
void report_carry(std::ostream& out, std::ostream& err, const std::vector<CarriedPatch>& patches,
                  const std::string& out_dir, const ReportStyle& style);
// The same as one object: {"verb", "exit_code", "patches": [{"name", "outcome", ...}]}.
nlohmann::json carry_json(const std::vector<CarriedPatch>& patches);

}  // namespace patcher
