// patch_of: a foreign diff as a patch of a series.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "patcher/foreign/redo_hunks.h"
#include "patcher/foreign/unified.h"
#include "patcher/patch/patch_rules.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;
using OpKind = FileOperation::Kind;

// A diff with context has it on both sides of its changes, and as many lines of it: where it has
// less on one side, and of that only blank lines, the file begins or ends there.
void mark_edges(const UnifiedHunk& from, Hunk& hunk) {
  const auto changes = [](const UnifiedLine& l) { return l.mark != ' '; };
  const auto is_blank_line = [](const UnifiedLine& l) { return is_blank(without_cr(l.text)); };
  const auto first = std::find_if(from.lines.begin(), from.lines.end(), changes);
  const auto last = std::find_if(from.lines.rbegin(), from.lines.rend(), changes);
  if (std::all_of(from.lines.begin(), from.lines.end(), changes)) return;
  const auto before = first - from.lines.begin();
  const auto behind = last - from.lines.rbegin();
  hunk.at_begin = from.before_line == 1 && std::all_of(from.lines.begin(), first, is_blank_line);
  // A hunk that begins with the file may have less before its changes than a diff's context is
  // wide.
  const auto context = static_cast<std::ptrdiff_t>(from.lines.size()) -
                       std::count_if(from.lines.begin(), from.lines.end(), changes);
  const auto width = from.before_line == 1 ? std::min<std::ptrdiff_t>(context, 3) : before;
  hunk.at_end =
      (behind == 0 || behind < width) && std::all_of(from.lines.rbegin(), last, is_blank_line);
}

bool has_cr(const UnifiedLine& l) {
  return l.text.ends_with('\r');
}

// Whether a hunk's lines end in both ways. Where they all end in one, that of the diff says
// nothing: what carried it may have made them so, and the file's lines say it.
bool says_line_ends(const std::vector<UnifiedLine>& lines) {
  const auto ends = [&](bool cr) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const auto& l) { return !l.no_newline && has_cr(l) == cr; });
  };
  return ends(true) && ends(false);
}

Hunk hunk_of(const UnifiedHunk& from, const UnifiedFile& file) {
  Hunk hunk{.scope = *parse_scope("file"), .line = from.line};
  hunk.foreign = true;
  hunk.heading = from.heading;
  hunk.before = {.line = from.before_line, .blob = file.blob_before};
  hunk.after = {.line = from.after_line, .blob = file.blob_after};
  hunk.changes_line_ends = says_line_ends(from.lines);
  mark_edges(from, hunk);
  for (const UnifiedLine& l : from.lines) {
    const Kind kind = l.mark == '-'   ? Kind::kRemoved
                      : l.mark == '+' ? Kind::kAdded
                                      : Kind::kContext;
    const std::string_view text = hunk.changes_line_ends ? l.text : without_cr(l.text);
    hunk.lines.push_back(
        {.kind = kind, .text = std::string(text), .line = l.line, .unended = l.no_newline});
  }
  return hunk;
}

bool is_executable(const std::optional<mode_t>& mode) {
  return mode && (*mode & 0111) != 0;
}

// The newline that the file's last hunk takes away or adds at its end. A line that changes in
// nothing else, but for the carriage return that goes with its newline, becomes context.
std::optional<FileOperation> take_newline_change(UnifiedHunk& hunk) {
  const auto last = [&](char mark) {
    const auto it = std::find_if(hunk.lines.rbegin(), hunk.lines.rend(),
                                 [&](const auto& l) { return l.mark == mark || l.mark == ' '; });
    return it == hunk.lines.rend() ? nullptr : &*it;
  };
  UnifiedLine* before = last('-');
  UnifiedLine* after = last('+');
  if (before == nullptr || after == nullptr || before->no_newline == after->no_newline)
    return std::nullopt;
  const FileOperation change{.kind = OpKind::kNewline,
                             .newline = before->no_newline,
                             .cr = has_cr(before->no_newline ? *after : *before),
                             .as_said = says_line_ends(hunk.lines)};
  // The line that had no newline, or that has none now, by its own text on both sides.
  for (UnifiedLine& l : hunk.lines) {
    UnifiedLine* other = change.newline ? before : after;
    if (&l == other || l.mark == other->mark || l.mark == ' ' || other->mark == ' ') continue;
    if (without_cr(l.text) != without_cr(other->text) || std::abs(&l - other) != 1) continue;
    (&l < other ? *other : l).mark = '\0';
    (&l < other ? l : *other).mark = ' ';
    std::erase_if(hunk.lines, [](const auto& line) { return line.mark == '\0'; });
    break;
  }
  return change;
}

// A section that changes what an earlier one of the diff makes is done to that. Gives false where
// none makes the file.
bool changed_what_is_made(const UnifiedFile& f, Patch& patch) {
  const auto made =
      std::find_if(patch.operations.begin(), patch.operations.end(), [&](const FileOperation& op) {
        return op.kind == OpKind::kInstall && op.path == f.path_before && !f.path_after.empty();
      });
  if (made == patch.operations.end()) return false;
  const Redone redone = redo_hunks(f, made->content, LineRule::kStated);
  if (redone.misfit_line != 0) {
    patch.errors.push_back(Finding::of(
        Verdict::kMalformed, at_line(patch.name, redone.misfit_line),
        fmt::format("does not fit what the diff makes of `{}` (line {})", made->path, made->line)));
  }
  made->content = redone.after;
  made->path = f.path_after;
  if (f.mode_after) made->executable = is_executable(f.mode_after);
  return true;
}

void add_file(const UnifiedFile& f, Patch& patch) {
  if (changed_what_is_made(f, patch)) return;
  const auto add = [&](FileOperation op) {
    op.line = f.line;
    patch.operations.push_back(std::move(op));
  };
  if (f.path_before.empty() || f.may_be_new) {
    return add({.kind = OpKind::kInstall,
                .path = f.path_after,
                .content = f.side('+'),
                .executable = is_executable(f.mode_after)});
  }
  if (f.path_after.empty()) {
    return add({.kind = OpKind::kDelete,
                .path = f.path_before,
                .content = f.side('-'),
                .executable = is_executable(f.mode_before)});
  }
  if (f.path_before != f.path_after) {
    add({.kind = OpKind::kRename, .path = f.path_before, .to = f.path_after});
  }
  if (f.mode_before && f.mode_after &&
      is_executable(f.mode_before) != is_executable(f.mode_after)) {
    add({.kind = OpKind::kMode, .path = f.path_after, .executable = is_executable(f.mode_after)});
  }
  if (f.hunks.empty()) return;
  FileChange change{.path = f.path_after, .line = f.line};
  std::vector<UnifiedHunk> hunks = f.hunks;
  if (auto at_end = take_newline_change(hunks.back())) {
    at_end->path = f.path_after;
    add(std::move(*at_end));
  }
  for (const UnifiedHunk& h : hunks) {
    if (std::any_of(h.lines.begin(), h.lines.end(), [](const auto& l) { return l.mark != ' '; }))
      change.hunks.push_back(hunk_of(h, f));
  }
  if (!change.hunks.empty()) patch.changes.push_back(std::move(change));
}

}  // namespace

Patch patch_of(std::string_view name, const UnifiedPatch& unified) {
  Patch patch{.name = std::string(name), .subject = unified.subject, .why = unified.why};
  patch.errors = unified.errors;
  if (patch.subject.empty()) patch.subject = name;
  if (patch.why.empty()) patch.why = patch.subject;
  if (!patch.errors.empty()) return patch;
  for (const UnifiedFile& f : unified.files)
    add_file(f, patch);
  std::vector<Fault> faults = patch_faults(patch);
  for (const FileChange& change : patch.changes) {
    for (const Hunk& hunk : change.hunks) {
      for (Fault& fault : hunk_faults(hunk))
        faults.push_back(std::move(fault));
    }
  }
  for (Fault& f : faults) {
    patch.errors.push_back(
        Finding::of(f.verdict, at_line(patch.name, f.line), std::move(f.message)));
  }
  return patch;
}

}  // namespace patcher
