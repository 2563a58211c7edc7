#pragma once

#include <vector>

#include "patcher/carry/base_steps.h"

namespace patcher {

// What keeps a patch that has its places in `target` from meaning there what it meant in its base:
// for each of its files the lost names (see lost_names.h). `result` is the target with the patch.
// The findings, kMissing, name the line that is added, in the target and in the patch.
std::vector<Finding> lost_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result);

// The same for calls whose shape is gone (changed_calls), and for the names that the file had in
// the base and that no C, C++ or CUDA file of the target has any more: members of a type in another
// file, say. Looks through the whole tree if there is such a name in none of the patch's own files;
// where these are all there is, nothing is known.
std::vector<Finding> gone_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result);

// Functions and types that the patch adds and that the target has by now, with another body: both
// would stand there. The findings are kOutdated.
std::vector<Finding> collisions_of(const BaseStep& from, const FileMap& target);

}  // namespace patcher
