#include "patcher/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/report/diff.h"
#include "patcher/report/text_columns.h"

namespace patcher {
namespace {

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string bold(std::string_view s) const { return wrap("1", s); }
  std::string red(std::string_view s) const { return wrap("1;31", s); }
  std::string green(std::string_view s) const { return wrap("32", s); }
  std::string cyan(std::string_view s) const { return wrap("36", s); }

 private:
  std::string wrap(std::string_view code, std::string_view s) const {
    return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, s) : std::string(s);
  }
  bool on_;
};

std::string place_text(const Place& place) {
  const std::string file = printable(place.file);
  return place.line == 0 ? file : fmt::format("{}:{}:{}", file, place.line, place.column);
}

std::string candidate_text(const Candidate& c) {
  const std::string conditional = c.conditional.empty() ? "" : " [" + c.conditional + "]";
  return place_text(c.place) +
         printable(fmt::format(": in {}{}: {}", c.scope, conditional, c.text));
}

void print_finding(std::ostream& err, const Finding& f, std::string_view level,
                   const Paint& paint) {
  const bool in_tree = !f.place.file.empty();
  const Place& at = in_tree ? f.place : f.origin;
  const std::string label = level == "error" ? paint.red("error: ") : paint.cyan("note: ");
  err << paint.bold(place_text(at) + ": ") << label;
  if (level == "error") err << verdict_name(f.verdict) << ": ";
  err << printable(f.message) << "\n";
  if (in_tree && !f.origin.file.empty()) {
    err << "  from " << printable(f.origin.file) << ":" << f.origin.line << "\n";
  }
  for (const std::string& hint : f.hints)
    err << "  hint: " << printable(hint) << "\n";
  for (const Candidate& c : f.candidates)
    err << "  " << candidate_text(c) << "\n";
}

std::string verdict_word(Verdict verdict, Verb verb) {
  if (verb == Verb::kRevert && verdict == Verdict::kApplies) return "reverts";
  if (verb == Verb::kRevert && verdict == Verdict::kAlreadyApplied) return "not_applied";
  return std::string(verdict_name(verdict));
}

size_t files_touched(const PatchPlan& p) {
  return static_cast<size_t>(std::count_if(p.paths.begin(), p.paths.end(), [&](const auto& path) {
    return !same_state(p.before.get(path), p.after.get(path));
  }));
}

void print_patch(std::ostream& out, const PatchPlan& p, size_t total, size_t name_width, Verb verb,
                 const Paint& paint) {
  const DiffCount n = patch_count(p);
  std::string word = fmt::format("{:<15}", verdict_word(p.verdict, verb));
  word = is_refusal(p.verdict) ? paint.red(word) : paint.green(word);
  out << fmt::format("{:>2}/{} {} {:<{}}", p.number, total, word, printable(p.patch->name),
                     name_width);
  const std::string size = fmt::format("{} file{} +{} -{}", files_touched(p),
                                       files_touched(p) == 1 ? "" : "s", n.added, n.removed);
  out << fmt::format("  {:<18}  {}\n", is_refusal(p.verdict) ? "" : size,
                     printable(p.patch->subject));
}

size_t count(const Plan& plan, auto predicate) {
  return static_cast<size_t>(std::count_if(plan.patches.begin(), plan.patches.end(), predicate));
}

std::string summary(const Plan& plan, Verb verb, int written) {
  const size_t total = plan.patches.size();
  const size_t refused = count(plan, [](const auto& p) { return is_refusal(p.verdict); });
  const size_t active = count(plan, [](const auto& p) { return p.verdict == Verdict::kApplies; });
  const std::string patches = fmt::format("{} patch{}", total, total == 1 ? "" : "es");
  if (refused > 0) return fmt::format("{}: {} refused; nothing was written", patches, refused);
  const bool revert = verb == Verb::kRevert;
  if (active == 0) {
    return fmt::format("{}: {}; nothing to do", patches, revert ? "none applied" : "all applied");
  }
  const char* does = revert ? "revert" : "apply";
  if (written < 0) {
    return fmt::format("{}: {} would {}, {} {}; dry run, nothing was written", patches, active,
                       does, total - active, revert ? "not applied" : "already applied");
  }
  return fmt::format("{}: {} {}; {} file{} written", patches, active,
                     revert ? "reverted" : "applied", written, written == 1 ? "" : "s");
}

nlohmann::json finding_json(const Finding& f) {
  nlohmann::json j{{"verdict", verdict_name(f.verdict)},
                   {"message", f.message},
                   {"file", f.place.file},
                   {"line", f.place.line},
                   {"column", f.place.column},
                   {"patch", f.origin.file},
                   {"patch_line", f.origin.line},
                   {"hints", f.hints},
                   {"candidates", nlohmann::json::array()}};
  for (const Candidate& c : f.candidates) {
    j["candidates"].push_back({{"file", c.place.file},
                               {"line", c.place.line},
                               {"column", c.place.column},
                               {"scope", c.scope},
                               {"conditional", c.conditional},
                               {"text", c.text}});
  }
  return j;
}

nlohmann::json files_json(const PatchPlan& p) {
  nlohmann::json files = nlohmann::json::array();
  for (const std::string& path : p.paths) {
    const FileState before = p.before.get(path);
    const FileState after = p.after.get(path);
    const FileState& there = after.exists() ? after : before;
    const auto bytes = [](const FileState& s) {
      return s.exists() ? std::string_view(s.source->bytes()) : std::string_view();
    };
    const DiffCount n = count_changes(bytes(before), bytes(after));
    files.push_back({{"path", path},
                     {"added", n.added},
                     {"removed", n.removed},
                     {"language", there.exists() ? language_name(there.source->language()) : ""}});
  }
  return files;
}

}  // namespace

std::string_view verb_name(Verb verb) {
  switch (verb) {
    case Verb::kCheck:
      return "check";
    case Verb::kDiff:
      return "diff";
    case Verb::kApply:
      return "apply";
    case Verb::kRevert:
      return "revert";
    case Verb::kDrift:
      return "drift";
    case Verb::kImport:
      return "import";
    case Verb::kCarry:
      break;
  }
  return "carry";
}

void report_findings(std::ostream& err, const std::vector<Finding>& findings,
                     const ReportStyle& style) {
  for (const Finding& f : findings)
    print_finding(err, f, "error", Paint(style.color));
}

void report_text(std::ostream& out, std::ostream& err, const Plan& plan, Verb verb, int written,
                 const ReportStyle& style) {
  const Paint paint(style.color);
  size_t width = 0;
  for (const PatchPlan& p : plan.patches)
    width = std::max(width, p.patch->name.size());
  for (const PatchPlan& p : plan.patches)
    print_patch(out, p, plan.patches.size(), width, verb, paint);
  for (const PatchPlan& p : plan.patches) {
    for (const Finding& f : p.notes)
      print_finding(err, f, "note", paint);
    for (const Finding& f : p.findings)
      print_finding(err, f, "error", paint);
  }
  out << summary(plan, verb, written) << "\n";
}

nlohmann::json findings_json(const std::vector<Finding>& findings) {
  nlohmann::json out = nlohmann::json::array();
  for (const Finding& f : findings)
    out.push_back(finding_json(f));
  return out;
}

nlohmann::json report_json(const Plan& plan, Verb verb, int written) {
  nlohmann::json j{{"verb", verb_name(verb)},
                   {"verdict", verdict_name(plan.verdict())},
                   {"written", std::max(written, 0)},
                   {"patches", nlohmann::json::array()}};
  for (const PatchPlan& p : plan.patches) {
    j["patches"].push_back({{"number", p.number},
                            {"name", p.patch->name},
                            {"subject", p.patch->subject},
                            {"verdict", verdict_name(p.verdict)},
                            {"exit_code", exit_code(p.verdict)},
                            {"files", files_json(p)},
                            {"findings", findings_json(p.findings)},
                            {"notes", findings_json(p.notes)}});
  }
  return j;
}

}  // namespace patcher
