#pragma once

#include <optional>
#include <string>

namespace patcher {

// git's three-way merge of lines: what `ours` and `theirs` make of `base` together; nothing where
// they conflict.
std::optional<std::string> merge_lines(const std::string& base, const std::string& ours,
                                       const std::string& theirs);

}  // namespace patcher
