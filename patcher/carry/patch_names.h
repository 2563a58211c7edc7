#pragma once

#include <vector>

#include "patcher/carry/base_steps.h"

namespace patcher {

// What keeps a patch that has its places in `target` from meaning there what it meant in its base:
// for each of its files the lost names (see lost_names.h, lost_locals.h). `result` is the target
// with the patch. The findings, kMissing, name the line that is added, in the target and in the
// patch.
std::vector<Finding> lost_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result);

// The same for calls whose shape is gone (changed_calls), for what is removed and still used, for
// calls removed behind what is gone (see removed_calls.h), and for the names that no C, C++ or CUDA
// file of the target has any more: those that the file had in the base, and those that another file
// of the base declares. Looks through both trees if there is such a name; where the patch's own
// files are all of the target, nothing is known.
std::vector<Finding> gone_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result);

// Functions and types that the patch adds and that the target has by now, with another body: both
// would stand there. The findings are kOutdated.
std::vector<Finding> collisions_of(const BaseStep& from, const FileMap& target);

}  // namespace patcher
