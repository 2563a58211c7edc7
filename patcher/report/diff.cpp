#include "patcher/report/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/base/libgit2.h"
#include "patcher/report/printable.h"

namespace patcher {
namespace {

std::string_view bytes_of(const FileState& state) {
  return state.exists() ? std::string_view(state.source->bytes()) : std::string_view();
}

// As git writes a path in a diff: in quotes, with C's escapes, where it would not be read back.
std::string git_path(const std::string& path) {
  std::string out;
  for (std::string_view rest = path; !rest.empty();) {
    const size_t length = std::max<size_t>(character_length(rest), 1);
    if (rest[0] == '"' || rest[0] == '\\') {
      out += fmt::format("\\{}", rest[0]);
    } else if (is_control(rest)) {
      for (char c : rest.substr(0, length))
        out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return out == path ? path : "\"" + out + "\"";
}

}  // namespace

std::string_view PatchedFile::old_bytes() const {
  return bytes_of(before);
}

std::string_view PatchedFile::new_bytes() const {
  return bytes_of(after);
}

const char* PatchedFile::remark() const {
  if (!before.exists()) return " (new)";
  return after.exists() ? "" : " (deleted)";
}

DiffCount PatchedFile::count() const {
  if (before.source == after.source) return {};
  return count_changes(old_bytes(), new_bytes());
}

std::vector<PatchedFile> files_of(const PatchPlan& patch) {
  std::vector<PatchedFile> files;
  for (const std::string& path : patch.paths)
    files.push_back({path, patch.before.get(path), patch.after.get(path)});
  return files;
}

std::vector<PatchedFile> changed_files(const PatchPlan& patch) {
  std::vector<PatchedFile> files = files_of(patch);
  std::erase_if(files, [](const PatchedFile& file) { return !file.changed(); });
  return files;
}

std::string file_header(const PatchedFile& file) {
  const std::string before = git_path("a/" + file.path);
  const std::string after = git_path("b/" + file.path);
  std::string out = fmt::format("diff --git {} {}\n", before, after);
  if (!file.before.exists()) {
    out += fmt::format("new file mode {}\n", file_mode(file.after.mode));
  } else if (!file.after.exists()) {
    out += fmt::format("deleted file mode {}\n", file_mode(file.before.mode));
  } else if (file_mode(file.before.mode) != file_mode(file.after.mode)) {
    out += fmt::format("old mode {}\nnew mode {}\n", file_mode(file.before.mode),
                       file_mode(file.after.mode));
  }
  if (file.old_bytes() == file.new_bytes()) return out;
  out += fmt::format("--- {}\n", file.before.exists() ? before : "/dev/null");
  return out + fmt::format("+++ {}\n", file.after.exists() ? after : "/dev/null");
}

std::string patch_diff(const PatchPlan& patch) {
  std::string out;
  for (const PatchedFile& file : changed_files(patch)) {
    out += file_header(file);
    for (const DiffHunk& hunk : diff_hunks(file.old_bytes(), file.new_bytes())) {
      out += hunk_header(hunk) + "\n" + hunk_body(hunk);
    }
  }
  return out;
}

DiffCount patch_count(const PatchPlan& patch) {
  DiffCount total;
  for (const PatchedFile& file : files_of(patch)) {
    const DiffCount one = file.count();
    total.added += one.added;
    total.removed += one.removed;
  }
  return total;
}

std::string patch_stat(const PatchPlan& patch) {
  std::string out;
  for (const PatchedFile& file : changed_files(patch)) {
    const DiffCount n = file.count();
    out += fmt::format(" {:<40} | +{:<4} -{}{}\n", printable(file.path), n.added, n.removed,
                       file.remark());
  }
  return out;
}

}  // namespace patcher
