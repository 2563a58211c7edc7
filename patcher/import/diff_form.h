#pragma once

#include <string>

#include "patcher/import/import.h"

namespace patcher {

// The change as a unified diff behind the Subject and Why of a patch file: what a series may hold
// in place of an anchored patch. It names the files' bytes, so that its line numbers count where it
// was made, and the section heading of each hunk, by which it is told from copies elsewhere.
std::string diff_form(const SourceChange& change);

}  // namespace patcher
