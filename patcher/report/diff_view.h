#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "patcher/series/plan.h"
#include "patcher/text/line_diff.h"

namespace patcher {

// The diff as people look at it; the bytes for `git apply` are those of diff.h.

// A line on the left, on the right, or both: equal, or the one having become the other. Null is
// none.
struct DiffRow {
  const DiffLine* left = nullptr;
  const DiffLine* right = nullptr;
};
// Within a change the removed lines pair with the added ones that are most alike, in order. Borrows
// the hunk.
std::vector<DiffRow> pair_rows(const DiffHunk& hunk);

// Byte ranges [first, second) of two lines that differ, by words: runs of letters and digits,
// blanks or single other characters.
using Spans = std::vector<std::pair<size_t, size_t>>;
std::pair<Spans, Spans> changed_words(std::string_view left, std::string_view right);

// A line without its line end; its control characters but those in `kept` are shown as blanks.
std::string shown_line(std::string_view line, std::string_view kept = "");

// The unified diff of one patch with colours: whole lines, and the words that differ reversed.
std::string colored_diff(const PatchPlan& patch);

// Two columns, before and after, in `width` columns of text (never the terminal's own, so that the
// output is the same everywhere). Lines too long are cut and end in `>`.
inline constexpr size_t kDefaultWidth = 160;
std::string side_by_side(const PatchPlan& patch, size_t width, bool color);

}  // namespace patcher
