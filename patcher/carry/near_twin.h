#pragma once

#include <optional>

#include "patcher/carry/carry_place.h"
#include "patcher/hunk/token_index.h"
#include "patcher/text/change_blocks.h"

namespace patcher {

// Where the target has by now what the block adds, in the block of code that the place is in and a
// few lines from it: its first code token. Nothing for additions that say little, and for what the
// base has as often around the block.
std::optional<size_t> near_twin(const TokenIndex& base, const TokenIndex& after,
                                const TokenIndex& target, const ChangeBlock& block,
                                const CarriedPlace& place);

}  // namespace patcher
