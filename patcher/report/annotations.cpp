#include "patcher/report/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "patcher/text/printable.h"

namespace patcher {
namespace {

using nlohmann::json;

namespace fs = std::filesystem;

std::string join_path(const fs::path& directory, const std::string& path) {
  return (directory / path).lexically_normal().string();
}

std::string beside(const std::string& series, const std::string& name) {
  if (name == series) return series;  // the finding is on the series file itself
  return join_path(fs::path(series).parent_path(), name);
}

// In the tree where the finding knows a place there, else in the patch.
Place place_of(const Remark& remark, const ReportPaths& paths) {
  const Finding& f = remark.finding;
  if (remark.rule == "drift") return at_line(f.origin.file);
  Place place = f.place.file.empty() ? f.origin : f.place;
  place.file =
      f.place.file.empty() ? beside(paths.series, place.file) : join_path(paths.root, place.file);
  place.line = std::max(place.line, 1);
  place.column = std::max(place.column, 1);
  return place;
}

std::string full_message(const Finding& f, const ReportPaths& paths) {
  std::string text = f.message;
  if (!f.place.file.empty() && !f.origin.file.empty()) {
    text += fmt::format("\nfrom {}:{}", beside(paths.series, f.origin.file), f.origin.line);
  }
  for (const std::string& hint : f.hints)
    text += "\nhint: " + hint;
  for (const Candidate& c : f.candidates) {
    text += fmt::format("\n{}:{}: {}", join_path(paths.root, c.place.file), c.place.line, shown(c));
  }
  return text;
}

// --- GitHub

std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (char c : printable(text, "\r\n")) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return out;
}

// --- SARIF

std::string as_uri(std::string_view path) {
  std::string out = path.starts_with('/') ? "file://" : "";
  for (char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

json location(const Place& place) {
  return {
      {"physicalLocation",
       {{"artifactLocation", {{"uri", as_uri(place.file)}}},
        {"region",
         {{"startLine", std::max(place.line, 1)}, {"startColumn", std::max(place.column, 1)}}}}}};
}

json related(const Finding& f, const ReportPaths& paths) {
  json out = json::array();
  for (const Candidate& c : f.candidates) {
    Place place = c.place;
    place.file = join_path(paths.root, place.file);
    json one = location(place);
    one["message"] = {{"text", shown(c)}};
    out.push_back(std::move(one));
  }
  return out;
}

json rules() {
  json out = json::array();
  const auto add = [&](std::string_view id, std::string_view meaning) {
    out.push_back({{"id", id}, {"shortDescription", {{"text", meaning}}}});
  };
  for (Verdict v : kAllVerdicts) {
    if (is_refusal(v)) add(verdict_name(v), verdict_meaning(v));
  }
  add("note", "worth to note; nothing is refused by it");
  add("drift", "a patch gives another diff than the one stored");
  return out;
}

}  // namespace

std::vector<Remark> remarks_of(const std::vector<Finding>& errors) {
  std::vector<Remark> out;
  out.reserve(errors.size());
  for (const Finding& f : errors)
    out.push_back({true, std::string(verdict_name(f.verdict)), f});
  return out;
}

std::vector<Remark> remarks_of(const Plan& plan) {
  std::vector<Remark> out;
  for (const PatchPlan& p : plan.patches) {
    for (const Finding& f : p.notes)
      out.push_back({false, "note", f});
    for (Remark& remark : remarks_of(p.findings))
      out.push_back(std::move(remark));
  }
  return out;
}

std::vector<Remark> drift_remarks(const std::vector<std::string>& messages,
                                  const std::string& directory) {
  std::vector<Remark> out;
  for (const std::string& message : messages) {
    const std::string name = message.substr(0, message.find(':'));
    Finding f{.message = message};
    f.origin.file = fmt::format("{}/{}", directory, name);
    out.push_back({true, "drift", std::move(f)});
  }
  return out;
}

std::string github_annotations(const std::vector<Remark>& remarks, const ReportPaths& paths) {
  std::string out;
  for (const Remark& r : remarks) {
    const Place at = place_of(r, paths);
    out +=
        fmt::format("::{} file={},line={},col={},title={}::{}\n", r.error ? "error" : "notice",
                    escaped(at.file, true), at.line, at.column, escaped("patcher " + r.rule, true),
                    escaped(full_message(r.finding, paths), false));
  }
  return out;
}

std::string github_failure(const std::string& what) {
  return fmt::format("::error title=patcher::{}\n", escaped(what, false));
}

json sarif_log(const std::vector<Remark>& remarks, const ReportPaths& paths) {
  json results = json::array();
  for (const Remark& r : remarks) {
    const Place at = place_of(r, paths);
    json result{{"ruleId", r.rule},
                {"level", r.error ? "error" : "note"},
                {"message", {{"text", full_message(r.finding, paths)}}},
                {"locations", json::array({location(at)})}};
    json others = related(r.finding, paths);
    if (!others.empty()) result["relatedLocations"] = std::move(others);
    results.push_back(std::move(result));
  }
  const json driver{{"name", "patcher"}, {"version", PATCHER_VERSION}, {"rules", rules()}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", json::array({{{"tool", {{"driver", driver}}},
                                 {"columnKind", "utf16CodeUnits"},
                                 {"results", std::move(results)}}})}};
}

}  // namespace patcher
