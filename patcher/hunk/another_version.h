#pragma once

#include <cstdint>

#include "patcher/patch/patch.h"
#include "patcher/syntax/source.h"

namespace patcher {

// Whether a hunk that is neither applied nor applicable was probably applied in another version:
// its scope is closer to what the hunk makes than to what the hunk needs. By tokens, as the
// cheapest alignment of either side with any stretch of the scope. A judgement for the verdict only
// (kOutdated instead of kMissing): either refuses, and nothing is edited by it.
//
// "Closer" is fewer differing tokens, and at least half of the tokens that only the result has. A
// hunk too large to align (align.h), or for what is left of `cells`, is not looked at: false. Takes
// from `cells` what looking costs: hunk by token of the file.
bool holds_another_version(const Source& source, const Hunk& hunk, uint64_t& cells);

// For all hunks of a patch together: less than a second.
inline constexpr uint64_t kMostVersionCells = 100'000'000;

}  // namespace patcher
