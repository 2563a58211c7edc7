#pragma once

#include <string>
#include <vector>

#include "patcher/series/plan.h"

namespace patcher {

// The plain unified diffs that are kept beside the series for reviewers and `git apply`.

// "01-name.patch" -> "01-name.diff".
std::string diff_name(const Patch& patch);
// Writes one file a patch; makes the directory. Throws BrokenEnvironment. Files that already have
// these bytes are left alone.
void store_diffs(const Plan& plan, const std::string& directory);
// One message for every patch whose stored diff is not what the patch gives now, and for every
// stored diff without a patch; empty when all agree. Names the difference where it is harmless:
// line ends, or blank context lines that an editor stripped.
std::vector<std::string> compare_diffs(const Plan& plan, const std::string& directory);

}  // namespace patcher
