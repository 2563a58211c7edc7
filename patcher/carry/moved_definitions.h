#pragma once

#include <string>
#include <vector>

#include "patcher/tree/file_map.h"

namespace patcher {

// A definition that one file of the old base has.
struct SoughtDefinition {
  const Scope* scope = nullptr;
  std::vector<Place> found = {};  // in the new tree's other files, in the order of their paths
};

// Looks for each function (by its qualified name and parameters) and type (by its name) in all C,
// C++ and CUDA files of `tree` but `path`. What the same file of `base` has already was there
// before, so that it is another one and does not count. Files beyond the parse budget and those
// that cannot be read or parsed are passed over, links are not followed. Costs a look into every
// file, and a parse of those that hold one of the names.
void find_moved(std::vector<SoughtDefinition>& sought, const std::string& path, const FileMap& base,
                const FileMap& tree);

}  // namespace patcher
