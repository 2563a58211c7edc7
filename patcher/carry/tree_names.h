#pragma once

#include <set>
#include <string>

#include "patcher/tree/file_map.h"

namespace patcher {

using NameSet = std::set<std::string, std::less<>>;

// Whether the tree has a C, C++ or CUDA file beside these paths. Where it has none it is a part of
// a tree, and what it lacks may be elsewhere.
bool is_whole(const FileMap& tree, const std::vector<std::string>& paths);

// Those of the names that none of these files of the tree has outside of its comments.
NameSet names_nowhere(NameSet names, const FileMap& tree);

// Those that one of these files declares or defines: behind a type, by `#define`, or in an enum.
NameSet names_declared(const NameSet& names, const FileMap& tree);

}  // namespace patcher
