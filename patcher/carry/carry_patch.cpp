#include "patcher/carry/carry_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "patcher/carry/carry_file.h"
#include "patcher/carry/carry_moved.h"
#include "patcher/carry/patch_names.h"
#include "patcher/carry/same_places.h"
#include "patcher/series/judge.h"
#include "patcher/text/change_blocks.h"

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
  PatchCarrier(const BaseStep& from, const FileMap& onto, MoveRule moves)
      : from_(from), onto_(onto), moves_(moves) {
    out_.name = from.patch->name;
    out_.subject = from.patch->subject;
  }

  CarriedPatch run(FileMap& result) {
    const Judgement now = judge(without_origin(*from_.patch), onto_);
    if (now.verdict == Verdict::kAlreadyApplied && is_in_its_part()) {
      out_.outcome = CarryOutcome::kObsolete;
    } else if (now.verdict == Verdict::kApplies && from_.told_apart &&
               !strayed(from_, onto_, now.after)) {
      out_.findings = lost_names_of(from_, onto_, now.after);
      if (out_.findings.empty()) result = now.after;
    } else {
      reanchor(result);
    }
    if (!out_.findings.empty()) out_.outcome = CarryOutcome::kNeedsPerson;
    return std::move(out_);
  }

 private:
  Finding finding(Verdict verdict, const std::string& path, std::string message) const {
    return Finding::of(verdict, at_line(out_.name), std::move(message), {.file = path});
  }
  void fail(Verdict verdict, const std::string& path, std::string message) {
    out_.findings.push_back(finding(verdict, path, std::move(message)));
  }

  bool is_in_its_part() const {
    const auto without = take_off(without_origin(*from_.patch), onto_);
    return without && !strayed_in_place(from_, onto_, *without);
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
    if (!out_.imported.kept_diff.empty()) {
      out_.notes.push_back(finding(Verdict::kApplies, change.files.front().path_after,
                                   "it is kept as a diff: " + out_.imported.kept_diff));
    }
    if (out_.findings.empty()) out_.findings = gone_names_of(from_, onto_, next);
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
    const FileState target =
        moved_to_.contains(old_path) ? next.get(old_path) : onto_.get(old_path);
    if (same_state(target, after) && old_path == path) {
      ++obsolete;
      return;
    }
    if (!before.exists() && target.exists()) {
      return fail(Verdict::kOutdated, old_path, "is in the new base, and differs");
    }
    if (before.exists() && !target.exists()) {
      Finding gone = finding(Verdict::kFileMissing, old_path, "is not in the new base");
      return follow_or_fail(std::move(gone), old_path, path, change, next);
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
    } else {
      CarriedFile carried = carry_file(*before.source, after.source->bytes(), *target.source);
      if (carried.failure) {
        if (carried.failure->verdict == Verdict::kObsolete && from_.paths.size() == 1) {
          ++obsolete;
          return;
        }
        Finding why = explained(std::move(*carried.failure), old_path);
        return follow_or_fail(std::move(why), old_path, path, change, next);
      }
      add_notes(std::move(carried.notes));
      v.after = std::move(carried.bytes);
    }
    if (old_path != path) next.put(old_path, {});
    record(std::move(v), change, next);
  }

  void record(FileVersions v, SourceChange& change, FileMap& next) {
    const std::string& path = v.path_after.empty() ? v.path_before : v.path_after;
    next.put(path, v.path_after.empty()
                       ? FileState{}
                       : FileState{.source = std::make_shared<Source>(path, v.after),
                                   .mode = v.mode_after});
    for (FileVersions& known : change.files) {
      if (known.path_after != v.path_after || v.path_after.empty()) continue;
      known.after = std::move(v.after);
      known.mode_after = v.mode_after;
      return;
    }
    change.files.push_back(std::move(v));
  }

  void add_notes(std::vector<Finding> notes) {
    for (Finding& note : notes)
      out_.notes.push_back(std::move(note));
  }

  Finding explained(Finding failure, const std::string& path) const {
    failure.hints.push_back(
        fmt::format("the change is at {}:{} in the old base", path, failure.origin.line));
    failure.origin = at_line(out_.name);
    if (failure.place.file.empty()) failure.place.file = path;
    return failure;
  }

  // The change has no place in its file. Refused, with where the definitions that hold it are now,
  // unless it may follow them there.
  void follow_or_fail(Finding failure, const std::string& old_path, const std::string& path,
                      SourceChange& change, FileMap& next) {
    const FileState before = from_.before.get(old_path);
    const FileState after = from_.after.get(path);
    if (after.exists() && old_path == path && before.mode == after.mode) {
      MovedChange moved = carry_moved(*before.source, *after.source, from_.before, next);
      if (moves_ == MoveRule::kFollow && !moved.files.empty()) {
        return follow(std::move(moved), change, next);
      }
      for (std::string& where : moved.where) {
        failure.hints.push_back(moved.files.empty() ? std::move(where)
                                                    : where + "; --follow-moves goes there");
      }
      if (moved.failure) {
        failure.hints.push_back(fmt::format("--follow-moves does not go there: {}: {}",
                                            shown(moved.failure->place), moved.failure->message));
      }
    }
    out_.findings.push_back(std::move(failure));
  }

  void follow(MovedChange moved, SourceChange& change, FileMap& next) {
    for (auto& [path, bytes] : moved.files) {
      const FileState target = next.get(path);
      record({.path_before = path,
              .path_after = path,
              .before = target.source->bytes(),
              .after = std::move(bytes),
              .mode_before = target.mode,
              .mode_after = target.mode},
             change, next);
      moved_to_.insert(path);
    }
    add_notes(std::move(moved.notes));
  }

  const BaseStep& from_;
  const FileMap& onto_;
  const MoveRule moves_;
  std::set<std::string> moved_to_;  // files that hold what followed a definition there
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

CarriedPatch carry_patch(const BaseStep& from, FileMap& tree, MoveRule moves) {
  const FileMap onto = tree;
  return PatchCarrier(from, onto, moves).run(tree);
}

}  // namespace patcher
