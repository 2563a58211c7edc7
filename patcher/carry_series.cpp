#include "patcher/carry_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "patcher/carry_file.h"
#include "patcher/error.h"
#include "patcher/judge.h"
#include "patcher/lost_names.h"
#include "patcher/unified.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

std::string read_patch(const Series& series, const std::string& name) {
  const fs::path path = fs::path(series.file).parent_path() / name;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in) throw BrokenEnvironment(fmt::format("{}: cannot read the patch", path.string()));
  return std::move(out).str();
}

// One patch and what it makes of its own base.
struct BaseStep {
  const Patch* patch = nullptr;
  std::vector<std::string> paths = {};
  FileMap before;
  FileMap after;
  bool told_apart = true;  // its anchors alone find its places there
};

// Does the series to its own base. A diff was taken from there, so there its line numbers hold, and
// they find places that its context alone cannot tell apart.
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
        by_lines(parse_unified(patch.name, text), step);
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
    if (j.verdict == Verdict::kAlreadyApplied) {
      j.findings.push_back({.verdict = j.verdict,
                            .origin = {.file = step.patch->name, .line = 1, .column = 1},
                            .message = "the old base has it already; it must be without it"});
    }
    refuse(j.findings);
    step.after = std::move(j.after);
  }

  // Where the lines do not say it, its context may, as for any other tree.
  void by_lines(const UnifiedPatch& unified, BaseStep& step) {
    std::vector<Finding> findings;
    const auto versions =
        versions_of(unified, step.patch->name, tree_, findings, LineRule::kStatedOrOnly);
    const Judgement j = judge(*step.patch, tree_);
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

// Carries one patch: what it made of its old base is `from`, where it goes is `onto`.
class PatchCarrier {
 public:
  PatchCarrier(const BaseStep& from, const FileMap& onto) : from_(from), onto_(onto) {
    out_.name = from.patch->name;
    out_.subject = from.patch->subject;
  }

  CarriedPatch run(FileMap& result) {
    const Judgement now = judge(*from_.patch, onto_);
    if (now.verdict == Verdict::kAlreadyApplied || now.verdict == Verdict::kObsolete) {
      out_.outcome = CarryOutcome::kObsolete;
    } else if (now.verdict == Verdict::kApplies && from_.told_apart) {
      check_names();
      if (out_.findings.empty()) result = now.after;
    } else {
      reanchor(result);
    }
    if (!out_.findings.empty()) out_.outcome = CarryOutcome::kNeedsPerson;
    return std::move(out_);
  }

 private:
  void fail(Verdict verdict, const std::string& path, std::string message) {
    out_.findings.push_back({.verdict = verdict,
                             .place = {.file = path},
                             .origin = {.file = out_.name, .line = 1, .column = 1},
                             .message = std::move(message)});
  }

  // It has its places there; but do its lines mean what they meant?
  void check_names() {
    for (const FileChange& change : from_.patch->changes) {
      const FileState after = from_.after.get(change.path);
      const FileState before = from_.before.get(path_before(change.path));
      const FileState target = onto_.get(path_before(change.path));
      if (!before.exists() || !after.exists() || !target.exists()) continue;
      for (const LostName& lost : lost_names(*before.source, *after.source, *target.source)) {
        fail(Verdict::kMissing, change.path, message(lost));
      }
    }
  }

  std::string path_before(const std::string& path) const {
    for (const FileOperation& op : from_.patch->operations) {
      if (op.kind == FileOperation::Kind::kRename && op.to == path) return op.path;
    }
    return path;
  }

  void reanchor(FileMap& result) {
    SourceChange change{
        .name = out_.name, .subject = from_.patch->subject, .why = from_.patch->why};
    FileMap next = onto_;
    size_t obsolete = 0;
    for (const std::string& path : from_.paths) {
      if (is_renamed_away(path)) continue;
      carry(path, change, next, obsolete);
    }
    if (!out_.findings.empty()) return;
    if (change.files.empty() && obsolete > 0) {
      out_.outcome = CarryOutcome::kObsolete;
      return;
    }
    out_.outcome = CarryOutcome::kReanchored;
    out_.imported = import_change(change);
    out_.findings = out_.imported.errors;
    if (out_.findings.empty()) result = next;
  }

  bool is_renamed_away(const std::string& path) const {
    return std::any_of(from_.patch->operations.begin(), from_.patch->operations.end(),
                       [&](const FileOperation& op) {
                         return op.kind == FileOperation::Kind::kRename && op.path == path;
                       });
  }

  // One file of the patch, by its path afterwards.
  void carry(const std::string& path, SourceChange& change, FileMap& next, size_t& obsolete) {
    const std::string old_path = path_before(path);
    const FileState before = from_.before.get(old_path);
    const FileState after = from_.after.get(path);
    const FileState target = onto_.get(old_path);
    if (same_state(target, after) && old_path == path) {
      ++obsolete;
      return;
    }
    if (before.exists() != target.exists()) {
      return fail(before.exists() ? Verdict::kFileMissing : Verdict::kOutdated, old_path,
                  before.exists() ? "is not in the new base" : "is in the new base, and differs");
    }
    FileVersions v{.path_before = before.exists() ? old_path : "",
                   .path_after = after.exists() ? path : ""};
    if (target.exists()) v.before = target.source->bytes();
    v.mode_before = target.mode;
    v.mode_after = after.exists() ? after.mode : target.mode;
    if (!before.exists()) {
      v.after = after.source->bytes();
    } else if (!after.exists()) {
      if (v.before != before.source->bytes()) {
        return fail(Verdict::kMissing, path, "is deleted by the patch, and has changed since");
      }
    } else if (before.source->bytes() == after.source->bytes()) {
      v.after = v.before;
    } else if (!carry_bytes(*before.source, *after.source, *target.source, v, obsolete)) {
      return;
    }
    if (old_path != path) next.put(old_path, {});
    next.put(path, after.exists() ? FileState{.source = std::make_shared<Source>(path, v.after),
                                              .mode = v.mode_after}
                                  : FileState{});
    change.files.push_back(std::move(v));
  }

  bool carry_bytes(const Source& before, const Source& after, const Source& target, FileVersions& v,
                   size_t& obsolete) {
    CarriedFile carried = carry_file(before, after.bytes(), target);
    for (Finding& note : carried.notes)
      out_.notes.push_back(std::move(note));
    if (!carried.failure) {
      v.after = std::move(carried.bytes);
      return true;
    }
    if (carried.failure->verdict == Verdict::kObsolete && from_.paths.size() == 1) {
      ++obsolete;
      return false;
    }
    carried.failure->hints.push_back(fmt::format("the change is at {}:{} in the old base",
                                                 before.path(), carried.failure->origin.line));
    carried.failure->origin = {.file = out_.name, .line = 1, .column = 1};
    if (carried.failure->place.file.empty()) carried.failure->place.file = target.path();
    out_.findings.push_back(std::move(*carried.failure));
    return false;
  }

  const BaseStep& from_;
  const FileMap& onto_;
  CarriedPatch out_;
};

// A patch that stays as it is, with what lies beside it.
Imported as_it_is(const Series& series, const Patch& patch) {
  Imported out{.text = read_patch(series, patch.name)};
  for (const FileOperation& op : patch.operations) {
    if (!op.beside.empty()) out.beside.push_back({op.beside, op.content, op.executable});
  }
  return out;
}

}  // namespace

std::string_view outcome_name(CarryOutcome outcome) {
  switch (outcome) {
    case CarryOutcome::kUnchanged:
      return "unchanged";
    case CarryOutcome::kReanchored:
      return "re-anchored";
    case CarryOutcome::kObsolete:
      return "obsolete";
    case CarryOutcome::kNeedsPerson:
      break;
  }
  return "needs a person";
}

std::vector<CarriedPatch> carry_series(const Series& series, const FileMap& base,
                                       const FileMap& onto, std::vector<Finding>& errors) {
  const std::vector<BaseStep> steps = BaseRun(series, base, errors).run();
  std::vector<CarriedPatch> out;
  if (!errors.empty()) return out;
  FileMap tree = onto;
  for (const BaseStep& step : steps) {
    out.push_back(PatchCarrier(step, tree).run(tree));
    if (out.back().outcome == CarryOutcome::kUnchanged) {
      out.back().imported = as_it_is(series, *step.patch);
    }
  }
  return out;
}

SeriesImport carried_import(const std::vector<CarriedPatch>& patches) {
  SeriesImport out;
  for (const CarriedPatch& p : patches) {
    if (p.outcome == CarryOutcome::kObsolete) continue;
    out.patches.push_back({p.name, p.imported});
  }
  return out;
}

}  // namespace patcher
