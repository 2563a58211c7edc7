#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace patcher {

// How deep one level is: a tab, or `width` blanks.
struct IndentStyle {
  bool tabs = false;
  int width = 2;
};

// The style that most lines' increases over their predecessor show, or their decreases where there
// is no increase; `fallback` without any.
IndentStyle guess_style(const std::vector<std::string_view>& indentations, IndentStyle fallback);

// Whether two texts are for certain indented in different styles: either is whole levels of its own
// style throughout, and the patch's cannot be whole levels of the target's. Aligned continuation
// lines in either leave it open, which is no.
bool styles_differ(const std::vector<std::string_view>& patch, const IndentStyle& patch_style,
                   const std::vector<std::string_view>& target, const IndentStyle& target_style);

// Moves lines from the patch's indentation to that of the place where they land: a line that is
// indented as `from` gets `to`, deeper and shallower ones keep their distance, in the place's
// style. Where from == to nothing changes at all, unless `restyle` says that the patch is written
// in another style and nothing but the margin was there to compare.
struct Reindent {
  std::string from = {};
  std::string to = {};
  IndentStyle patch_style = {};
  IndentStyle target_style = {};
  bool restyle = false;

  std::string operator()(std::string_view line) const;
};

std::string_view leading_blanks(std::string_view line);

// Whether a line's indentation may be whole levels: it is not blank, but for the backslash of a
// macro that goes on, and not the inside of a block comment, whose ` *` stands one blank deeper
// than the code.
bool shows_level(std::string_view line);

}  // namespace patcher
