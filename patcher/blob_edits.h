#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patcher/edit.h"

namespace patcher {

// The lines that differ between two versions of a file, as edits of the first that give the second,
// so that its parse can be reused. Nothing for texts that this cannot be said of.
std::optional<std::vector<ByteEdit>> edits_between(const std::string& before,
                                                   const std::string& after);

}  // namespace patcher
