#pragma once

#include <git2.h>

#include <optional>
#include <vector>

#include "patcher/text/edit.h"

namespace patcher {

// The lines that differ between two versions of a file, as edits of the first that give the second,
// so that its parse can be reused. Nothing for texts that this cannot be said of. Blobs and not
// their bytes: those libgit2 would hash first.
std::optional<std::vector<ByteEdit>> edits_between(const git_blob* before, const git_blob* after);

}  // namespace patcher
