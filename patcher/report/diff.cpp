#include "patcher/report/diff.h"

#include <fmt/format.h>

#include "patcher/text/printable.h"

namespace patcher {
namespace {

std::string_view bytes_of(const FileState& state) {
  return state.exists() ? std::string_view(state.source->bytes()) : std::string_view();
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
  const auto side = [&](const FileState& state) {
    DiffSide out{.path = file.path, .mode = state.mode};
    if (state.exists()) out.bytes = state.source->bytes();
    return out;
  };
  return file_header(side(file.before), side(file.after));
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
