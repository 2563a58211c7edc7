// patch_of: a foreign diff as a patch of a series.
#include <algorithm>
#include <cstdlib>

#include "patcher/foreign/unified.h"
#include "patcher/patch/patch_rules.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;
using OpKind = FileOperation::Kind;

// A diff's context may begin or end inside of a block comment, where its words are no tokens of
// the file: such lines are no anchor.
void drop_half_comments(std::vector<HunkLine>& lines) {
  const auto anchor = [](const HunkLine& l) { return l.kind == Kind::kContext; };
  const auto holds = [](const HunkLine& l, const char* what) {
    return l.text.find(what) != std::string::npos;
  };
  for (auto it = lines.begin(); it != lines.end() && anchor(*it) && !holds(*it, "/*"); ++it) {
    if (!holds(*it, "*/")) continue;
    lines.erase(lines.begin(), it + 1);
    break;
  }
  for (auto it = lines.rbegin(); it != lines.rend() && anchor(*it) && !holds(*it, "*/"); ++it) {
    if (!holds(*it, "/*")) continue;
    lines.erase(it.base() - 1, lines.end());
    break;
  }
}

// With context on one side only, a diff says that there is nothing on the other: the file begins or
// ends there.
void mark_edges(const UnifiedHunk& from, Hunk& hunk) {
  if (from.lines.empty()) return;
  const bool before = from.lines.front().mark == ' ';
  const bool behind = from.lines.back().mark == ' ';
  hunk.at_begin = from.before_line == 1 && !before && behind;
  hunk.at_end = before && !behind;
}

Hunk hunk_of(const UnifiedHunk& from) {
  Hunk hunk{.scope = *parse_scope("file"), .line = from.line};
  hunk.foreign = true;
  hunk.heading = from.heading;
  mark_edges(from, hunk);
  for (const UnifiedLine& l : from.lines) {
    const Kind kind = l.mark == '-'   ? Kind::kRemoved
                      : l.mark == '+' ? Kind::kAdded
                                      : Kind::kContext;
    hunk.lines.push_back({.kind = kind, .text = std::string(without_cr(l.text)), .line = l.line});
  }
  drop_half_comments(hunk.lines);
  const auto blank = [](const HunkLine& l) { return l.kind == Kind::kContext && is_blank(l.text); };
  while (!hunk.lines.empty() && blank(hunk.lines.back()))
    hunk.lines.pop_back();
  return hunk;
}

bool is_executable(const std::optional<mode_t>& mode) {
  return mode && (*mode & 0111) != 0;
}

// Whether the file's last hunk takes away or adds the newline at its end, and which. A line that
// changes in nothing else becomes context.
std::optional<bool> take_newline_change(UnifiedHunk& hunk) {
  const auto last = [&](char mark) {
    const auto it = std::find_if(hunk.lines.rbegin(), hunk.lines.rend(),
                                 [&](const auto& l) { return l.mark == mark || l.mark == ' '; });
    return it == hunk.lines.rend() ? nullptr : &*it;
  };
  UnifiedLine* before = last('-');
  UnifiedLine* after = last('+');
  if (before == nullptr || after == nullptr || before->no_newline == after->no_newline)
    return std::nullopt;
  const bool newline = before->no_newline;
  // The line that had no newline, or that has none now, by its own text on both sides.
  for (UnifiedLine& l : hunk.lines) {
    UnifiedLine* other = newline ? before : after;
    if (&l == other || l.mark == other->mark || l.mark == ' ' || other->mark == ' ') continue;
    if (l.text != other->text || std::abs(&l - other) != 1) continue;
    (&l < other ? *other : l).mark = '\0';
    (&l < other ? l : *other).mark = ' ';
    std::erase_if(hunk.lines, [](const auto& line) { return line.mark == '\0'; });
    break;
  }
  return newline;
}

void add_file(const UnifiedFile& f, Patch& patch) {
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
  if (const auto newline = take_newline_change(hunks.back())) {
    add({.kind = OpKind::kNewline, .path = f.path_after, .newline = *newline});
  }
  for (const UnifiedHunk& h : hunks) {
    if (std::any_of(h.lines.begin(), h.lines.end(), [](const auto& l) { return l.mark != ' '; }))
      change.hunks.push_back(hunk_of(h));
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
    patch.errors.push_back({.verdict = f.verdict,
                            .origin = {.file = patch.name, .line = f.line, .column = 1},
                            .message = std::move(f.message)});
  }
  return patch;
}

}  // namespace patcher
