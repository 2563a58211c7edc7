#pragma once

#include <string>

#include "patcher/patch.h"

namespace patcher {

// The patch file that parse_patch() reads back as this patch (its errors and line numbers aside).
std::string patch_text(const Patch& patch);

}  // namespace patcher
