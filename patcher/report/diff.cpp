#include "patcher/report/diff.h"

#include <fmt/format.h>

#include <algorithm>

namespace patcher {
namespace {

void put_line(std::string& out, char kind, std::string_view line) {
  out += kind;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

std::string range(size_t begin, size_t count) {
  const size_t first = count == 0 ? begin : begin + 1;
  return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
}

std::string_view bytes_of(const FileState& state) {
  return state.exists() ? std::string_view(state.source->bytes()) : std::string_view();
}

std::string mode_of(const FileState& state) {
  return state.mode & 0111 ? "100755" : "100644";
}

}  // namespace

std::string unified_hunks(std::string_view before, std::string_view after) {
  std::string out;
  for (const DiffHunk& hunk : diff_hunks(before, after)) {
    out += hunk_header(hunk) + "\n";
    for (const DiffLine& line : hunk.lines)
      put_line(out, line.kind, line.text);
  }
  return out;
}

std::string hunk_header(const DiffHunk& hunk) {
  const auto lines_without = [&](char kind) {
    return static_cast<size_t>(std::count_if(hunk.lines.begin(), hunk.lines.end(),
                                             [&](const auto& l) { return l.kind != kind; }));
  };
  return fmt::format("@@ -{} +{} @@", range(hunk.before_line, lines_without('+')),
                     range(hunk.after_line, lines_without('-')));
}

std::string file_diff(const std::string& path, const FileState& before, const FileState& after) {
  if (same_state(before, after)) return {};
  std::string out = fmt::format("diff --git a/{0} b/{0}\n", path);
  if (!before.exists()) {
    out += fmt::format("new file mode {}\n", mode_of(after));
  } else if (!after.exists()) {
    out += fmt::format("deleted file mode {}\n", mode_of(before));
  } else if (mode_of(before) != mode_of(after)) {
    out += fmt::format("old mode {}\nnew mode {}\n", mode_of(before), mode_of(after));
  }
  if (bytes_of(before) == bytes_of(after)) return out;
  out += fmt::format("--- {}\n", before.exists() ? "a/" + path : "/dev/null");
  out += fmt::format("+++ {}\n", after.exists() ? "b/" + path : "/dev/null");
  return out + unified_hunks(bytes_of(before), bytes_of(after));
}

std::string patch_diff(const PatchPlan& patch) {
  std::string out;
  for (const std::string& path : patch.paths) {
    out += file_diff(path, patch.before.get(path), patch.after.get(path));
  }
  return out;
}

DiffCount patch_count(const PatchPlan& patch) {
  DiffCount total;
  for (const std::string& path : patch.paths) {
    const FileState before = patch.before.get(path);
    const FileState after = patch.after.get(path);
    if (before.source == after.source) continue;
    const DiffCount one = count_changes(bytes_of(before), bytes_of(after));
    total.added += one.added;
    total.removed += one.removed;
  }
  return total;
}

std::string patch_stat(const PatchPlan& patch) {
  std::string out;
  for (const std::string& path : patch.paths) {
    const FileState before = patch.before.get(path);
    const FileState after = patch.after.get(path);
    if (same_state(before, after)) continue;
    const DiffCount n = count_changes(bytes_of(before), bytes_of(after));
    const char* what = !before.exists() ? " (new)" : !after.exists() ? " (deleted)" : "";
    out += fmt::format(" {:<40} | +{:<4} -{}{}\n", path, n.added, n.removed, what);
  }
  return out;
}

}  // namespace patcher
