#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace patcher {

// A section `Property changes on: PATH` of a diff that SVN wrote.
struct PropertySection {
  size_t end = 0;          // the index behind its last line
  size_t fault_line = 0;   // the index of a property that is refused
  std::string fault = {};  // why; empty: there is none
};

// Reads the section that begins with lines[at]. Properties that change what is in a tree
// (svn:executable, svn:special, svn:externals) are refused by name; the others are notes that SVN
// keeps for itself, and nothing of them could stand in a tree.
PropertySection read_properties(const std::vector<std::string_view>& lines, size_t at);

}  // namespace patcher
