#pragma once

#include <utility>
#include <vector>

#include "patcher/patch/patch.h"
#include "patcher/syntax/source.h"
#include "patcher/text/edit.h"

namespace patcher {

// A foreign hunk whose old lines are in the file as the diff has them, each line equal: what stands
// there needs no grammar to be found, and the change is made line by line.

// The lines, from 0, where all of the old lines stand, at most kMaxMatches. A carriage return at a
// line's end does not count, unless the hunk changes line ends.
std::vector<size_t> verbatim_places(const Source& source, const Hunk& hunk);

// Whether the hunk's old side stands at the line that the diff names.
bool at_stated_line(const Hunk& hunk, size_t line);

// Whether the file has the bytes that the diff was taken from, as far as the diff names them.
bool is_of_base(const Source& source, const Hunk& hunk);

// The bytes of the old lines at one of these places.
std::pair<uint32_t, uint32_t> verbatim_bytes(const Source& source, const Hunk& hunk, size_t line);
// Where the first line that changes is, or the first behind what is added.
uint32_t verbatim_change(const Source& source, const Hunk& hunk, size_t line);

// What the hunk changes there. Added lines end as their neighbours do, unless the hunk changes line
// ends.
std::vector<ByteEdit> verbatim_edits(const Source& source, const Hunk& hunk, size_t line);

}  // namespace patcher
