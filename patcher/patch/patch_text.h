#pragma once

#include <string>

#include "patcher/patch/patch.h"

namespace patcher {

// The patch file that parse_patch() reads back as this patch (its errors and line numbers aside).
std::string patch_text(const Patch& patch);
// A patch file's line of one operation, without a line end: "rename: a.cpp -> b.cpp".
std::string operation_text(const FileOperation& operation);

}  // namespace patcher
