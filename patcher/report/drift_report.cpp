#include "patcher/report/drift_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/report/text_columns.h"

namespace patcher {
namespace {

std::string short_id(const Revision& revision) {
  return revision.commit.substr(0, 12);
}

std::string event_line(const PatchDrift& patch, size_t i) {
  const DriftEvent& event = patch.events[i];
  const char* when = i == 0 ? "at" : "since";
  const bool broke = &event == patch.first_break() && i > 0;
  return fmt::format("      {:<14} {:<5} {} {} {}{}\n", verdict_name(event.verdict), when,
                     short_id(event.at), day(event.at.seconds), printable(event.at.summary),
                     broke ? " (the first that breaks it)" : "");
}

std::string summary(const Drift& drift) {
  const auto count = [&](auto predicate) {
    return std::count_if(drift.patches.begin(), drift.patches.end(), predicate);
  };
  const auto obsolete = count([](const auto& p) { return p.obsolete_since() != nullptr; });
  const auto refused = count([](const auto& p) { return is_refusal(p.last().verdict); }) - obsolete;
  return fmt::format("{} patch{} over {} commits: {} still apply, {} broken, {} obsolete\n",
                     drift.patches.size(), drift.patches.size() == 1 ? "" : "es",
                     drift.history.commits.size() - 1,
                     std::ssize(drift.patches) - refused - obsolete, refused, obsolete);
}

nlohmann::json event_json(const DriftEvent& event) {
  return {{"commit", event.at.commit},
          {"date", day(event.at.seconds)},
          {"summary", event.at.summary},
          {"verdict", verdict_name(event.verdict)},
          {"findings", findings_json(event.findings)}};
}

nlohmann::json commit_or_null(const DriftEvent* event) {
  return event != nullptr ? nlohmann::json(event->at.commit) : nlohmann::json();
}

nlohmann::json patch_json(const PatchDrift& patch, size_t number) {
  nlohmann::json events = nlohmann::json::array();
  for (const DriftEvent& event : patch.events)
    events.push_back(event_json(event));
  return {{"number", number},
          {"name", patch.patch->name},
          {"subject", patch.patch->subject},
          {"verdict", verdict_name(patch.last().verdict)},
          {"exit_code", exit_code(patch.last().verdict)},
          {"judged", patch.judged},
          {"first_break", commit_or_null(patch.first_break())},
          {"obsolete_since", commit_or_null(patch.obsolete_since())},
          {"events", events},
          {"findings", findings_json(patch.last().latest)}};
}

}  // namespace

void report_drift(std::ostream& out, std::ostream& err, const Drift& drift,
                  const ReportStyle& style) {
  const auto& commits = drift.history.commits;
  out << fmt::format("{}: {} commits along first parents, {} change a file of the series\n",
                     drift.history.asked, commits.size() - 1, drift.touching);
  size_t width = 0;
  for (const PatchDrift& p : drift.patches)
    width = std::max(width, p.patch->name.size());
  for (size_t i = 0; i < drift.patches.size(); ++i) {
    const PatchDrift& p = drift.patches[i];
    out << fmt::format("{:>2}/{} {:<15} {:<{}}  {}\n", i + 1, drift.patches.size(),
                       verdict_name(p.last().verdict), printable(p.patch->name), width,
                       printable(p.patch->subject));
    for (size_t e = 0; e < p.events.size() && (p.events.size() > 1 || p.first_break()); ++e)
      out << event_line(p, e);
  }
  for (const PatchDrift& p : drift.patches)
    report_findings(err, p.last().latest, style);
  out << summary(drift);
}

nlohmann::json drift_json(const Drift& drift) {
  nlohmann::json patches = nlohmann::json::array();
  for (size_t i = 0; i < drift.patches.size(); ++i)
    patches.push_back(patch_json(drift.patches[i], i + 1));
  const auto& commits = drift.history.commits;
  return {{"verb", verb_name(Verb::kDrift)},
          {"verdict", verdict_name(drift.verdict())},
          {"exit_code", exit_code(drift.verdict())},
          {"range", drift.history.asked},
          {"from", commits.front().commit},
          {"to", commits.back().commit},
          {"commits", commits.size() - 1},
          {"touching", drift.touching},
          {"first_parent", true},
          {"patches", patches}};
}

}  // namespace patcher
