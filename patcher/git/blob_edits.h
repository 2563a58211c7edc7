#pragma once

#include <git2.h>

#include <vector>

#include "patcher/text/edit.h"

namespace patcher {

// The lines that differ between two versions of a file, as edits of the first that give the second,
// so that its parse can be reused.
std::vector<ByteEdit> edits_between(const git_blob* before, const git_blob* after);

}  // namespace patcher
