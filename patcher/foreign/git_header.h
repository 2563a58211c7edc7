#pragma once

#include <string>
#include <string_view>

#include "patcher/foreign/unified.h"

namespace patcher {

// A line between "diff --git a/x b/x" and the file's hunks.
struct GitHeaderLine {
  bool known = false;      // it is one of these lines
  bool names = false;      // it says the files' names; those of other lines do not count
  std::string fault = {};  // why the file is refused: it is binary, or a copy
};

// Puts what the line says into `f`: a mode, a name, that there is no file before or after.
GitHeaderLine read_git_header(std::string_view line, UnifiedFile& f);

}  // namespace patcher
