#pragma once

#include <string>
#include <string_view>

#include "patcher/series/plan.h"
#include "patcher/text/line_diff.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// A unified diff that `git apply` accepts, made here so that no git configuration, locale or
// terminal changes a byte of it: three lines of context, `a/` and `b/`, Myers' shortest edit
// script.

// The hunks between two texts, without file header; empty for equal texts.
std::string unified_hunks(std::string_view before, std::string_view after);
// "@@ -1,5 +1,6 @@"
std::string hunk_header(const DiffHunk& hunk);

// One file between two states with its header: created, deleted, changed, new mode; empty if equal.
std::string file_diff(const std::string& path, const FileState& before, const FileState& after);

// All files of one patch.
std::string patch_diff(const PatchPlan& patch);
DiffCount patch_count(const PatchPlan& patch);
// Lines as `git diff --stat` has them, by the patcher's own widths.
std::string patch_stat(const PatchPlan& patch);

}  // namespace patcher
