#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/syntax/source.h"

namespace patcher {

// One file's change, carried from the version that it was made on to another one.
struct CarriedFile {
  std::string bytes = {};               // the target with the change; empty after a failure
  std::optional<Finding> failure = {};  // why it was refused; nothing was guessed
  std::vector<Finding> notes = {};      // where the place was a choice
};

// The change base..after done to `target`. Each block of changed lines has one place (see
// carry_place.h) or all is refused; removed lines must be there token by token, comments included.
// Added lines take the target's indentation and line ends.
//
// Refused too: a change that the target has already, a file that would parse worse, and an added
// line that uses what the target has no more (see lost_names.h). Base and target have one path.
CarriedFile carry_file(const Source& base, const std::string& after, const Source& target);

}  // namespace patcher
