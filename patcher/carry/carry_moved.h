#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/tree/file_map.h"

namespace patcher {

// A file's change whose definitions are not all in that file of the new tree: where they are now,
// and what the change makes of the files that hold them.
struct MovedChange {
  std::vector<std::string> where = {};  // a line for each definition that was found elsewhere
  std::map<std::string, std::string> files = {};  // path and new bytes; empty if it cannot follow
  std::vector<Finding> notes = {};                // what moved, and where a place was a choice
  std::optional<Finding> failure = {};  // all definitions were found, and yet it cannot follow
};

// The change before..after of `path`. Every definition that holds a part of the change and that
// `path` of `tree` has no more must be found exactly once in the tree (see moved_definitions.h);
// its part goes there as carry_file() does it. Parts outside of any definition go along only if all
// of the change goes to one file. `base` is the old tree.
MovedChange carry_moved(const Source& before, const Source& after, const FileMap& base,
                        const FileMap& tree);

}  // namespace patcher
