#pragma once

#include <string>
#include <vector>

#include "patcher/series/series.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// One patch and what it makes of its own base.
struct BaseStep {
  const Patch* patch = nullptr;
  std::vector<std::string> paths = {};  // as named_paths()
  FileMap before;                       // the base with the patches before this one
  FileMap after;
  bool told_apart = true;  // its anchors alone find its places there

  // A path's name before the patch; another one only if the patch renames it.
  std::string path_before(const std::string& path) const;
};

// The whole file of a patch of the series. Throws BrokenEnvironment when it cannot be read.
std::string read_patch(const Series& series, const std::string& name);

// Does the series to its own base. A diff was taken from there, so there its line numbers hold, and
// they find places that its context alone cannot tell apart. `errors` gets what does not apply.
// Borrows the series. REQUIRES series.errors.empty(). Throws as read_patch().
std::vector<BaseStep> base_steps(const Series& series, const FileMap& base,
                                 std::vector<Finding>& errors);

}  // namespace patcher
