#include "patcher/report/carry_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace patcher {

int carry_exit_code(const std::vector<CarriedPatch>& patches) {
  for (const CarriedPatch& p : patches) {
    if (p.outcome == CarryOutcome::kNeedsPerson) return exit_code(p.findings.front().verdict);
  }
  return 0;
}

void report_carry(std::ostream& out, std::ostream& err, const std::vector<CarriedPatch>& patches,
                  const std::string& out_dir, const ReportStyle& style) {
  std::map<CarryOutcome, size_t> counts;
  size_t width = 0;
  for (const CarriedPatch& p : patches)
    width = std::max(width, p.name.size());
  for (size_t i = 0; i < patches.size(); ++i) {
    const CarriedPatch& p = patches[i];
    ++counts[p.outcome];
    out << fmt::format("{:>2}/{} {:<14}  {:<{}}  {}\n", i + 1, patches.size(),
                       outcome_name(p.outcome), p.name, width, p.subject);
    for (const Finding& note : p.notes)
      out << fmt::format("      note: {}:{}: {}\n", note.place.file, note.place.line, note.message);
  }
  for (const CarriedPatch& p : patches)
    report_findings(err, p.findings, style);
  std::string line = fmt::format("{} patches:", patches.size());
  for (const auto& [outcome, count] : counts)
    line += fmt::format("{} {} {}", line.ends_with(':') ? "" : ",", count, outcome_name(outcome));
  line += fmt::format("; written to {}", out_dir);
  if (counts.contains(CarryOutcome::kNeedsPerson)) line += ", what needs a person as it was";
  out << line << "\n";
}

nlohmann::json carry_json(const std::vector<CarriedPatch>& patches) {
  nlohmann::json list = nlohmann::json::array();
  for (const CarriedPatch& p : patches) {
    list.push_back({{"name", p.name},
                    {"subject", p.subject},
                    {"outcome", outcome_name(p.outcome)},
                    {"findings", findings_json(p.findings)},
                    {"notes", findings_json(p.notes)}});
  }
  return {{"verb", "carry"}, {"exit_code", carry_exit_code(patches)}, {"patches", list}};
}

}  // namespace patcher
