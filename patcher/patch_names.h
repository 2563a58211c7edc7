#pragma once

#include <vector>

#include "patcher/base_steps.h"

namespace patcher {

// What keeps a patch that has its places in `target` from meaning there what it meant in its base:
// for each of its files the lost names (see lost_names.h). `result` is the target with the patch.
// The findings, kMissing, name the line that is added, in the target and in the patch.
std::vector<Finding> lost_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result);

}  // namespace patcher
