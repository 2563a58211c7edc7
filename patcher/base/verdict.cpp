#include "patcher/base/verdict.h"

#include <utility>

namespace patcher {
namespace {

struct Row {
  int code;
  std::string_view name;
  std::string_view meaning;
};

// In the order of the verdicts.
constexpr Row kTable[] = {
    {0, "applies", "every anchor has exactly one place"},
    {10, "already_applied", "the tree has it already; nothing to do"},
    {11, "obsolete", "upstream has the change; drop the patch"},
    {12, "missing", "a scope or an anchor is not there"},
    {13, "ambiguous", "a scope or an anchor is there more than once"},
    {14, "damaged_parse", "the place or the result does not parse"},
    {15, "file_missing", "a file to change is not in the tree"},
    {16, "overlaps", "two hunks change the same bytes"},
    {17, "no_effect", "the patch changes nothing"},
    {18, "malformed", "the series or a patch file is wrong"},
    {19, "unsafe_path", "a path leaves the tree or goes through a link"},
    {20, "outdated", "partly applied, or another version is in the tree"},
};

static_assert(std::size(kTable) == kAllVerdicts.size());

const Row& row(Verdict v) {
  return kTable[static_cast<size_t>(v)];
}

}  // namespace

std::string_view verdict_name(Verdict v) {
  return row(v).name;
}
std::string_view verdict_meaning(Verdict v) {
  return row(v).meaning;
}
int exit_code(Verdict v) {
  return row(v).code;
}
bool is_refusal(Verdict v) {
  return v != Verdict::kApplies && v != Verdict::kAlreadyApplied;
}

Place at_line(std::string file, int line) {
  return {.file = std::move(file), .line = line, .column = 1};
}

std::string shown(const Place& place) {
  return place.line == 0 ? place.file : place.file + ":" + std::to_string(place.line);
}

std::string shown(const Candidate& c) {
  return "in " + c.scope + (c.conditional.empty() ? "" : " [" + c.conditional + "]") + ": " +
         c.text;
}

Finding Finding::of(Verdict verdict, Place origin, std::string message, Place place) {
  return {.verdict = verdict,
          .place = std::move(place),
          .origin = std::move(origin),
          .message = std::move(message)};
}

}  // namespace patcher
