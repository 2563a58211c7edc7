#include "patcher/carry_patch.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/carry_file.h"
#include "patcher/change_blocks.h"
#include "patcher/judge.h"
#include "patcher/patch_names.h"

namespace patcher {
namespace {

// Where it lands in the tree without it; a file that it makes, deletes or renames as a whole.
Place first_change(const SourceChange& change) {
  const FileVersions& file = change.files.front();
  Place place{.file = file.path_before.empty() ? file.path_after : file.path_before};
  const auto blocks = change_blocks(file.before, file.after);
  if (!blocks.empty()) place.line = static_cast<int>(blocks.front().before_begin) + 1;
  return place;
}

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
      out_.findings = lost_names_of(from_, onto_, now.after);
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
    if (!out_.findings.empty()) return;
    out_.place = first_change(change);
    result = next;
  }

  bool is_renamed_away(const std::string& path) const {
    return std::any_of(from_.patch->operations.begin(), from_.patch->operations.end(),
                       [&](const FileOperation& op) {
                         return op.kind == FileOperation::Kind::kRename && op.path == path;
                       });
  }

  // One file of the patch, by its path afterwards.
  void carry(const std::string& path, SourceChange& change, FileMap& next, size_t& obsolete) {
    const std::string old_path = from_.path_before(path);
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

CarriedPatch carry_patch(const BaseStep& from, FileMap& tree) {
  const FileMap onto = tree;
  return PatchCarrier(from, onto).run(tree);
}

}  // namespace patcher
