#include "patcher/report/json_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/report/diff.h"
#include "patcher/text/printable.h"

namespace patcher {
namespace {

using nlohmann::json;

// list[i] as `one` makes it of items[i].
template <typename Items, typename One>
json list_of(const Items& items, One one) {
  json list = json::array();
  for (const auto& item : items)
    list.push_back(one(item));
  return list;
}

json candidate_json(const Candidate& c) {
  return {{"file", c.place.file}, {"line", c.place.line},         {"column", c.place.column},
          {"scope", c.scope},     {"conditional", c.conditional}, {"text", c.text}};
}

json finding_json(const Finding& f) {
  return {{"verdict", verdict_name(f.verdict)},
          {"message", f.message},
          {"file", f.place.file},
          {"line", f.place.line},
          {"column", f.place.column},
          {"patch", f.origin.file},
          {"patch_line", f.origin.line},
          {"hints", f.hints},
          {"candidates", list_of(f.candidates, candidate_json)}};
}

json file_json(const PatchedFile& file) {
  const FileState& there = file.after.exists() ? file.after : file.before;
  const DiffCount n = file.count();
  return {{"path", file.path},
          {"added", n.added},
          {"removed", n.removed},
          {"language", there.exists() ? language_name(there.source->language()) : ""}};
}

json event_json(const DriftEvent& event) {
  return {{"commit", event.at.commit},
          {"date", day(event.at.seconds)},
          {"summary", event.at.summary},
          {"verdict", verdict_name(event.verdict)},
          {"findings", findings_json(event.findings)}};
}

json commit_or_null(const DriftEvent* event) {
  return event != nullptr ? json(event->at.commit) : json();
}

}  // namespace

json findings_json(const std::vector<Finding>& findings) {
  return list_of(findings, finding_json);
}

json plan_json(const Plan& plan, int written) {
  const auto patch_json = [](const PatchPlan& p) -> json {
    return {{"number", p.number},
            {"name", p.patch->name},
            {"subject", p.patch->subject},
            {"verdict", verdict_name(p.verdict)},
            {"exit_code", exit_code(p.verdict)},
            {"files", list_of(files_of(p), file_json)},
            {"findings", findings_json(p.findings)},
            {"notes", findings_json(p.notes)}};
  };
  return {{"verdict", verdict_name(plan.verdict())},
          {"written", std::max(written, 0)},
          {"patches", list_of(plan.patches, patch_json)}};
}

json drift_json(const Drift& drift) {
  size_t number = 0;
  const auto patch_json = [&](const PatchDrift& p) -> json {
    return {{"number", ++number},
            {"name", p.patch->name},
            {"subject", p.patch->subject},
            {"verdict", verdict_name(p.last().verdict)},
            {"exit_code", exit_code(p.last().verdict)},
            {"judged", p.judged},
            {"first_break", commit_or_null(p.first_break())},
            {"obsolete_since", commit_or_null(p.obsolete_since())},
            {"events", list_of(p.events, event_json)},
            {"findings", findings_json(p.last().latest)}};
  };
  const auto& commits = drift.history.commits;
  return {{"verdict", verdict_name(drift.verdict())},
          {"exit_code", exit_code(drift.verdict())},
          {"range", drift.history.asked},
          {"from", commits.front().commit},
          {"to", commits.back().commit},
          {"commits", commits.size() - 1},
          {"touching", drift.touching},
          {"first_parent", true},
          {"patches", list_of(drift.patches, patch_json)}};
}

json carried_json(const std::vector<CarriedPatch>& patches) {
  const auto patch_json = [](const CarriedPatch& p) -> json {
    return {{"name", p.name},
            {"subject", p.subject},
            {"outcome", outcome_name(p.outcome)},
            {"findings", findings_json(p.findings)},
            {"notes", findings_json(p.notes)}};
  };
  return {{"patches", list_of(patches, patch_json)}};
}

std::string json_text(const json& object) {
  const std::string text = object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t length = std::max<size_t>(character_length(rest), 1);
    // Only those that JSON takes as they are, DEL and U+0080 to U+009F, are left, all in strings.
    if (is_control(rest) && rest[0] != '\n') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(rest[length - 1]));
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return out;
}

}  // namespace patcher
