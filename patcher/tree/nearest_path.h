#pragma once

#include <optional>
#include <string>
#include <vector>

namespace patcher {

// Of a tree's paths the one that a wrong path most likely means: few letters are other ones, or the
// same name is in one other folder. Nothing where none is near, or two are.
std::optional<std::string> nearest_path(const std::vector<std::string>& paths,
                                        const std::string& wrong);

}  // namespace patcher
