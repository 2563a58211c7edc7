#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "patcher/series/plan.h"
#include "patcher/text/line_diff.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// A file that a patch names, before and after the patch.
struct PatchedFile {
  std::string path = {};
  FileState before = {};
  FileState after = {};

  // Empty where there is no file.
  std::string_view old_bytes() const;
  std::string_view new_bytes() const;
  bool changed() const { return !same_state(before, after); }
  // " (new)", " (deleted)" or "".
  const char* remark() const;
  DiffCount count() const;
};
// The files that the patch names, in its order, and those of them that it changes.
std::vector<PatchedFile> files_of(const PatchPlan& patch);
std::vector<PatchedFile> changed_files(const PatchPlan& patch);

// The lines of a file's diff before its first hunk.
std::string file_header(const PatchedFile& file);

// The unified diff of one patch, which `git apply` accepts. It is made here so that no git
// configuration, locale or terminal changes a byte of it: three lines of context, `a/` and `b/`.
std::string patch_diff(const PatchPlan& patch);
// Lines added and removed over all files of one patch.
DiffCount patch_count(const PatchPlan& patch);
// One line a file as `git diff --stat` has them, by the patcher's own widths.
std::string patch_stat(const PatchPlan& patch);

}  // namespace patcher
