#include "patcher/carry/carry_series.h"

#include <fmt/format.h>

namespace patcher {
namespace {

// A patch that stays as it is, with what lies beside it.
Imported as_it_is(const Series& series, const Patch& patch) {
  Imported out{.text = read_patch(series, patch.name)};
  if (patch.strip) out.options = fmt::format("-p{}", *patch.strip);
  for (const FileOperation& op : patch.operations) {
    if (!op.beside.empty()) out.beside.push_back({op.beside, op.content, op.executable});
  }
  return out;
}

}  // namespace

std::vector<CarriedPatch> carry_steps(const std::vector<BaseStep>& steps, const FileMap& onto,
                                      MoveRule moves) {
  std::vector<CarriedPatch> out;
  out.reserve(steps.size());
  FileMap tree = onto;
  for (const BaseStep& step : steps)
    out.push_back(carry_patch(step, tree, moves));
  return out;
}

std::vector<CarriedPatch> carry_series(const Series& series, const FileMap& base,
                                       const FileMap& onto, MoveRule moves,
                                       std::vector<Finding>& errors) {
  const std::vector<BaseStep> steps = base_steps(series, base, errors);
  if (!errors.empty()) return {};
  std::vector<CarriedPatch> out = carry_steps(steps, onto, moves);
  for (size_t i = 0; i < out.size(); ++i) {
    const bool stays =
        out[i].outcome == CarryOutcome::kUnchanged || out[i].outcome == CarryOutcome::kNeedsPerson;
    if (stays) out[i].imported = as_it_is(series, *steps[i].patch);
  }
  return out;
}

SeriesImport carried_import(const std::vector<CarriedPatch>& patches) {
  SeriesImport out;
  for (const CarriedPatch& p : patches) {
    if (p.outcome == CarryOutcome::kObsolete) continue;
    out.patches.push_back({.name = p.name, .imported = p.imported});
    if (p.outcome == CarryOutcome::kNeedsPerson) {
      out.patches.back().remark =
          fmt::format("{}: {}", outcome_name(p.outcome), verdict_name(p.findings.front().verdict));
    }
  }
  return out;
}

}  // namespace patcher
