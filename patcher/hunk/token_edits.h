#pragma once

#include <string_view>
#include <vector>

#include "patcher/hunk/hunk_unit.h"
#include "patcher/text/edit.h"

namespace patcher {

// How much of two units is equal: 2 * common / (both sizes), by tokens and comments; two blank
// units count as 1, a blank and another as 0.
float similarity(const Side& a_side, const Unit& a, const Side& b_side, const Unit& b);

// The smallest edits that turn the target's tokens of `before` into those of `after`: kept tokens
// and the white space between kept neighbours stay as the target has them. A comment of `before`
// that the target lacks is passed over. REQUIRES every code token of `before` laid over the target.
std::vector<ByteEdit> token_edits(const Source& source, const Overlay& overlay,
                                  const Side& before_side, const Unit& before,
                                  const Side& after_side, const Unit& after);

}  // namespace patcher
