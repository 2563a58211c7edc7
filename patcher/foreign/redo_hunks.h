#pragma once

#include <string>

#include "patcher/foreign/unified.h"

namespace patcher {

// What a diff's line numbers say of its base. kStated: it was taken from there, so there it fits at
// the lines that it names, or it is not that base's. kStatedOrOnly: it was kept while its base
// moved on; a file whose hunks do not all fit at their lines gets each where its lines are, if that
// is one place in the file and the places are in order.
enum class LineRule { kStated, kStatedOrOnly };

struct Redone {
  std::string after = {};
  int misfit_line = 0;      // of the diff; 0: all of it fits
  std::string misfit = {};  // what is wrong there
};

// Does a file's hunks to its bytes, by lines; a lost carriage return does not count.
Redone redo_hunks(const UnifiedFile& file, const std::string& before, LineRule rule);

}  // namespace patcher
