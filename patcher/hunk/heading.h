#pragma once

#include <string>
#include <vector>

#include "patcher/hunk/anchor.h"
#include "patcher/patch/patch.h"
#include "patcher/syntax/source.h"

namespace patcher {

// Whether a site can be the place that a foreign hunk was taken from, by its section heading: the
// line that diff tools print behind the second `@@`, which is the nearest line before the hunk that
// looks like a function's first.
//
// The heading holds where it stands nearest before the site, or begins a scope around the changed
// lines. It says nothing of a change outside of every function, and of one whose function's head is
// in the hunk itself. REQUIRES a match of `side`, the hunk's old side.
bool under_heading(const Source& source, const Hunk& hunk, const Side& side, const Match& match);
// The same of a site that begins at a byte, and whose first changed line is at another.
bool under_heading(const Source& source, const Hunk& hunk, uint32_t begin, uint32_t change);

// What stands under the heading: from each line that it is to the end of the scope that begins
// there, and to the next line that looks like a function's first. Empty where no line is it.
std::vector<CodeRange> ranges_under_heading(const Source& source, const std::string& heading);

// Whether the heading stands nearest before a byte, whatever the grammar makes of it.
bool heading_is_nearest(const Source& source, const Hunk& hunk, uint32_t begin);

}  // namespace patcher
