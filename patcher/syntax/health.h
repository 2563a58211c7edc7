#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patcher/syntax/source.h"
#include "patcher/text/edit.h"

namespace patcher {

// Whether the grammar understood the place at [begin, end): an ERROR node around it, an ERROR or
// MISSING node inside of it, or a MISSING child of a node around it below the enclosing
// declaration. Damage elsewhere in the file does not count; an `extern "C"` guard alone would
// otherwise block a header. Returns the damaged region, or nothing for a healthy place and for
// files without a grammar.
std::optional<Damage> damage_at(const Source& source, uint32_t begin, uint32_t end);

// Whether an edit made the grammar understand less of a file: more regions are damaged after it.
bool parses_worse(const Source& before, const Source& after);

// The first region of `after` that is damaged and was not before the edits that made `before` into
// `after`; nothing when the file parses no worse than before. That added text with a macro in it,
// or an argument, cannot be read harms nothing as long as what is around it can. REQUIRES edits as
// apply_edits() does.
std::optional<Damage> new_damage(const Source& before, const std::vector<ByteEdit>& edits,
                                 const Source& after);

// "ERROR 12:3-14:1", "MISSING `;` 12:3" or "CUT 12:3-14:1".
std::string describe(const Source& source, const Damage& damage);

}  // namespace patcher
