#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patcher/patch/patch.h"
#include "patcher/syntax/source.h"

namespace patcher {

// The hunks that turn one file's bytes before into those after, each with the innermost scope that
// holds it and the smallest anchor that finds exactly its place and makes exactly its bytes.
struct ImportedHunks {
  std::vector<Hunk> hunks = {};
  size_t failed_line = 0;  // not 0: no anchor was found for the change at this line (from 1)
  bool damaged = false;    // because the place does not parse
};

struct AnchorStyle {
  size_t least_context = 0;  // lines on each side, where the scope has them
  // Whether a function may be named with its parameters. A patch that changes them names it without
  // where it changes the body too, or it could not be found to be applied.
  bool parameters = true;
};

ImportedHunks import_hunks(const Source& before, const std::string& after,
                           const AnchorStyle& style);

}  // namespace patcher
