#pragma once

#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// What a person should know of a file that is about to change, though nothing of it refuses the
// patch: line ends of both kinds, other names of the same file, regions that the grammar does not
// understand, and whether the patch lands in one. REQUIRES state.exists().
std::vector<Finding> notes_on(const FileState& state, bool lands_in_damage);

}  // namespace patcher
