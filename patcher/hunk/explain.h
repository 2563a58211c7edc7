#pragma once

#include "patcher/hunk/place.h"

namespace patcher {

// What a person reads about a hunk that has no place: what is wrong and where, the candidates, the
// closest place, and where else the anchor is. `failure` is what place_hunk(source, hunk, rule)
// came to.
Finding explain(const Source& source, const Hunk& hunk, ScopeRule rule, const Unplaced& failure);

}  // namespace patcher
