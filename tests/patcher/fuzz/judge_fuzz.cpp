// Any bytes as a patch over any bytes as the file that it names, separated by a unit separator
// (0x1F): anchors, rewriting, verdicts and reports. What must hold of every verdict is checked.
#include <cstdlib>
#include <iostream>

#include "patcher/report/diff_view.h"
#include "patcher/report/json_report.h"
#include "patcher/series/judge.h"

namespace {

using namespace patcher;

// A tree in which every path has the same bytes, but for one.
class SameEverywhere : public FileOrigin {
 public:
  explicit SameEverywhere(std::string_view bytes) : bytes_(bytes) {}
  FileState read(const std::string& path) override {
    if (path == "absent.cpp") return {};
    return {.source = std::make_shared<Source>(path, bytes_)};
  }

 private:
  std::string bytes_;
};

[[noreturn]] void broken(const char* promise, const Judgement& judgement) {
  std::cerr << "broken promise: " << promise << ", verdict " << verdict_name(judgement.verdict)
            << "\n";
  for (const Finding& f : explained(judgement.failures))
    std::cerr << "  " << f.message << "\n";
  std::abort();
}

void check_promises(const Patch& patch, const FileMap& before) {
  const Judgement first = judge(patch, before);
  if (first.verdict != Verdict::kApplies) {
    if (!first.after.same_as(before)) broken("a refusal changes nothing", first);
    if (is_refusal(first.verdict) && first.failures.empty()) broken("it says why", first);
    return;
  }
  if (first.after.same_as(before)) broken("a patch that applies changes something", first);
  const Judgement second = judge(patch, first.after);
  if (second.verdict != Verdict::kAlreadyApplied) broken("a second run finds it applied", second);
  if (!take_off(patch, first.after)) broken("what was applied comes off", second);
}

void show(const Patch& patch, const FileMap& before) {
  const Judgement j = judge(patch, before);
  PatchPlan plan{.number = 1,
                 .patch = &patch,
                 .verdict = j.verdict,
                 .findings = explained(j.failures),
                 .notes = j.notes,
                 .paths = named_paths(patch),
                 .before = before,
                 .after = j.after};
  side_by_side(plan, 80, true);
  colored_diff(plan);
  if (!nlohmann::json::accept(json_text(findings_json(explained(j.failures)))))
    broken("the report is JSON", j);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find('\x1F');
  if (cut == std::string_view::npos) return 0;
  const Patch patch = parse_patch("fuzz.patch", text.substr(0, cut));
  if (!patch.usable()) return 0;
  const FileMap before(std::make_shared<SameEverywhere>(text.substr(cut + 1)));
  check_promises(patch, before);
  show(patch, before);
  return 0;
}
