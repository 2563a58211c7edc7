#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/tree/file_map.h"
#include "patcher/tree/tree_root.h"

namespace patcher {

// Writing all of a plan or nothing of it, whatever moment the process dies at.
//
//   1. take a lock on the root directory (flock; a second run is refused, a dead one holds nothing)
//   2. `.patcher-journal` in the root lists every file to come, in state "prepare"
//   3. the new bytes go to temporary files beside their targets (`.patcher-new-NAME`), synced
//   4. the journal is replaced by one in state "commit": from here on the new tree is the truth
//   5. temporary files are renamed onto their targets, deleted files unlinked, directories synced
//   6. the journal is removed
//
// The next run finds the journal: "prepare" is rolled back (temporary files and made directories
// go), "commit" is finished. The tree is never read as half of each. A file keeps its mode; a hard
// link is broken (the other names keep the old bytes). No link is followed at any step.
inline constexpr std::string_view kJournalName = ".patcher-journal";

// Called before each step that changes the disk, with what it is about to do. Tests throw or exit
// there.
using WriteHook = std::function<void(std::string_view step)>;

// Writes what `result` changed. Throws BrokenEnvironment, with the tree as before, when a file is
// not as it was read, cannot be written, or another run holds the tree. Returns the paths written.
std::vector<std::string> write_tree(const TreeRoot& root, const FileMap& result,
                                    const WriteHook& hook = {});

enum class Recovery { kNothing, kRolledBack, kFinished };

// Whether a run was cut off: its journal is there.
bool has_journal(const TreeRoot& root);
// Rolls back or finishes a run that was cut off. May itself be cut off and run again.
Recovery recover(const TreeRoot& root, const WriteHook& hook = {});

}  // namespace patcher
