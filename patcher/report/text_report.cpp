#include "patcher/report/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "patcher/base/counted.h"
#include "patcher/report/diff.h"
#include "patcher/text/printable.h"

namespace patcher {
namespace {

std::string place_text(const Place& place) {
  return place.line == 0 ? place.file
                         : fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

void print_finding(Console& console, const Finding& f, bool error) {
  const bool in_tree = !f.place.file.empty();
  const std::string at = place_text(in_tree ? f.place : f.origin) + ": ";
  const std::string verdict = error ? fmt::format("{}: ", verdict_name(f.verdict)) : "";
  console.err({{at, Style::kBold},
               error ? Piece("error: ", Style::kError) : Piece("note: ", Style::kHeading),
               verdict,
               f.message});
  if (in_tree && !f.origin.file.empty()) console.err({"  from ", shown(f.origin)});
  for (const std::string& hint : f.hints)
    console.err({"  hint: ", hint});
  for (const Candidate& c : f.candidates) {
    console.err({"  ", place_text(c.place), ": ", shown(c)});
  }
}

std::string_view verdict_word(Verdict verdict, bool revert) {
  if (revert && verdict == Verdict::kApplies) return "reverts";
  if (revert && verdict == Verdict::kAlreadyApplied) return "not_applied";
  return verdict_name(verdict);
}

// " 1/7 applies         NAME  SIZE  SUBJECT", with names of `name_width` columns.
struct PatchLine {
  size_t number;
  size_t total;
  std::string word;
  bool good;
  const std::string& name;
  size_t name_width;
  std::string size;
  const std::string& subject;
};

void print_line(Console& console, const PatchLine& line) {
  const std::string number = fmt::format("{:>2}/{} ", line.number, line.total);
  const std::string name =
      fmt::format(" {:<{}}  {}", printable(line.name), line.name_width, line.size);
  console.out({number, {line.word, line.good ? Style::kAdded : Style::kError}, name, line.subject});
}

// The width of the longest of the names.
template <typename Patches, typename Name>
size_t name_width(const Patches& patches, Name name) {
  size_t width = 0;
  for (const auto& p : patches)
    width = std::max(width, name(p).size());
  return width;
}

std::string size_of(const PatchPlan& p) {
  if (is_refusal(p.verdict)) return fmt::format("{:<18}  ", "");
  const DiffCount n = patch_count(p);
  return fmt::format("{:<18}  ", fmt::format("{} +{} -{}", counted(changed_files(p).size(), "file"),
                                             n.added, n.removed));
}

std::string plan_summary(const Plan& plan, bool revert, int written) {
  const auto count = [&](auto predicate) {
    return static_cast<size_t>(std::count_if(plan.patches.begin(), plan.patches.end(), predicate));
  };
  const size_t total = plan.patches.size();
  const size_t refused = count([](const auto& p) { return is_refusal(p.verdict); });
  const size_t active = count([](const auto& p) { return p.verdict == Verdict::kApplies; });
  const std::string patches = counted(total, "patch");
  if (refused > 0) return fmt::format("{}: {} refused; nothing was written", patches, refused);
  if (active == 0) {
    return fmt::format("{}: {}; nothing to do", patches, revert ? "none applied" : "all applied");
  }
  if (written < 0) {
    return fmt::format("{}: {} would {}, {} {}; dry run, nothing was written", patches, active,
                       revert ? "revert" : "apply", total - active,
                       revert ? "not applied" : "already applied");
  }
  return fmt::format("{}: {} {}; {} written", patches, active, revert ? "reverted" : "applied",
                     counted(static_cast<size_t>(written), "file"));
}

void print_event(Console& console, const PatchDrift& patch, size_t i) {
  const DriftEvent& event = patch.events[i];
  const bool broke = &event == patch.first_break() && i > 0;
  console.out(
      {fmt::format("      {:<14} {:<5} {} {} ", verdict_name(event.verdict),
                   i == 0 ? "at" : "since", event.at.commit.substr(0, 12), day(event.at.seconds)),
       event.at.summary, broke ? " (the first that breaks it)" : ""});
}

std::string drift_summary(const Drift& drift) {
  const auto count = [&](auto predicate) {
    return std::count_if(drift.patches.begin(), drift.patches.end(), predicate);
  };
  const auto obsolete = count([](const auto& p) { return p.obsolete_since() != nullptr; });
  const auto refused = count([](const auto& p) { return is_refusal(p.last().verdict); }) - obsolete;
  return fmt::format("{} over {}: {} still apply, {} broken, {} obsolete",
                     counted(drift.patches.size(), "patch"),
                     counted(drift.history.commits.size() - 1, "commit"),
                     std::ssize(drift.patches) - refused - obsolete, refused, obsolete);
}

}  // namespace

void print_findings(Console& console, const std::vector<Finding>& findings) {
  for (const Finding& f : findings)
    print_finding(console, f, true);
}

void print_plan(Console& console, const Plan& plan, bool revert, int written) {
  const size_t width = name_width(plan.patches, [](const auto& p) { return p.patch->name; });
  for (const PatchPlan& p : plan.patches) {
    print_line(
        console,
        {p.number, plan.patches.size(), fmt::format("{:<15}", verdict_word(p.verdict, revert)),
         !is_refusal(p.verdict), p.patch->name, width, size_of(p), p.patch->subject});
  }
  for (const PatchPlan& p : plan.patches) {
    for (const Finding& f : p.notes)
      print_finding(console, f, false);
    print_findings(console, p.findings);
  }
  console.out({plan_summary(plan, revert, written)});
}

void print_drift(Console& console, const Drift& drift) {
  const size_t commits = drift.history.commits.size() - 1;
  console.out(
      {drift.history.asked,
       fmt::format(": {} along first parents, {} change{} a file of the series",
                   counted(commits, "commit"), drift.touching, drift.touching == 1 ? "s" : "")});
  const size_t width = name_width(drift.patches, [](const auto& p) { return p.patch->name; });
  for (size_t i = 0; i < drift.patches.size(); ++i) {
    const PatchDrift& p = drift.patches[i];
    print_line(console,
               {i + 1, drift.patches.size(), fmt::format("{:<15}", verdict_name(p.last().verdict)),
                !is_refusal(p.last().verdict), p.patch->name, width, "", p.patch->subject});
    for (size_t e = 0; e < p.events.size() && (p.events.size() > 1 || p.first_break()); ++e)
      print_event(console, p, e);
  }
  for (const PatchDrift& p : drift.patches)
    print_findings(console, p.last().latest);
  console.out({drift_summary(drift)});
}

void print_carried(Console& console, const std::vector<CarriedPatch>& patches,
                   const std::string& out_dir) {
  std::map<CarryOutcome, size_t> counts;
  const size_t width = name_width(patches, [](const auto& p) { return p.name; });
  for (size_t i = 0; i < patches.size(); ++i) {
    const CarriedPatch& p = patches[i];
    ++counts[p.outcome];
    print_line(console, {i + 1, patches.size(), fmt::format("{:<15}", outcome_name(p.outcome)),
                         p.outcome != CarryOutcome::kNeedsPerson, p.name, width, "", p.subject});
    for (const Finding& note : p.notes)
      console.out({"      note: ", shown(note.place), ": ", note.message});
  }
  for (const CarriedPatch& p : patches)
    print_findings(console, p.findings);
  std::string line;
  for (const auto& [outcome, count] : counts)
    line += fmt::format("{} {} {}", line.empty() ? "" : ",", count, outcome_name(outcome));
  const bool person = counts.contains(CarryOutcome::kNeedsPerson);
  console.out({counted(patches.size(), "patch"), ":", line, "; written to ", out_dir,
               person ? ", what needs a person as it was" : ""});
}

}  // namespace patcher
