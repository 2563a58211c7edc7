#include "patcher/carry/base_steps.h"

#include <fmt/format.h>

#include <filesystem>

#include "patcher/base/error.h"
#include "patcher/base/files.h"
#include "patcher/foreign/unified.h"
#include "patcher/import/import_series.h"
#include "patcher/series/judge.h"

namespace patcher {
namespace {

class BaseRun {
 public:
  BaseRun(const Series& series, const FileMap& base, std::vector<Finding>& errors)
      : series_(series), tree_(base), errors_(errors) {}

  std::vector<BaseStep> run() {
    std::vector<BaseStep> steps;
    for (const Patch& patch : series_.patches) {
      BaseStep step{.patch = &patch, .paths = named_paths(patch), .before = tree_, .after = tree_};
      if (!patch.usable()) {
        refuse(patch.errors);
      } else if (const std::string text = read_patch(series_, patch.name); is_unified(text)) {
        by_lines(parse_unified(patch.name, text, patch.strip), step);
      } else {
        by_anchors(step);
      }
      tree_ = step.after;
      steps.push_back(std::move(step));
    }
    return steps;
  }

 private:
  void refuse(const std::vector<Finding>& findings) {
    for (const Finding& f : findings) {
      errors_.push_back(f);
      errors_.back().hints.push_back("the series does not apply to its own base");
    }
  }

  void by_anchors(BaseStep& step) {
    Judgement j = judge(*step.patch, tree_);
    std::vector<Finding> findings = explained(j.failures);
    if (j.verdict == Verdict::kAlreadyApplied) {
      findings.push_back(Finding::of(j.verdict, at_line(step.patch->name),
                                     "the old base has it already; it must be without it"));
    }
    refuse(findings);
    step.after = std::move(j.after);
  }

  // Where the lines do not say it, its context may, as for any other tree.
  void by_lines(const UnifiedPatch& unified, BaseStep& step) {
    std::vector<Finding> findings;
    const auto versions =
        versions_of(unified, step.patch->name, tree_, findings, LineRule::kStatedOrOnly);
    const Judgement j = judge(without_origin(*step.patch), tree_);
    step.told_apart = j.verdict == Verdict::kApplies;
    if (!findings.empty()) {
      if (!step.told_apart) return refuse(findings);
      step.after = j.after;
      return;
    }
    for (const FileVersions& v : versions)
      put_version(v, step.after);
    step.told_apart = step.told_apart && j.after.same_as(step.after);
  }

  const Series& series_;
  FileMap tree_;
  std::vector<Finding>& errors_;
};

}  // namespace

std::string BaseStep::path_before(const std::string& path) const {
  for (const FileOperation& op : patch->operations) {
    if (op.kind == FileOperation::Kind::kRename && op.to == path) return op.path;
  }
  return path;
}

std::string read_patch(const Series& series, const std::string& name) {
  const std::string path = (std::filesystem::path(series.file).parent_path() / name).string();
  if (auto text = read_whole(path)) return std::move(*text);
  throw BrokenEnvironment(fmt::format("{}: is gone", path));
}

std::vector<BaseStep> base_steps(const Series& series, const FileMap& base,
                                 std::vector<Finding>& errors) {
  return BaseRun(series, base, errors).run();
}

}  // namespace patcher
