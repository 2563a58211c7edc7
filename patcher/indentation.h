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

// The style that most lines' increases over their predecessor show; `fallback` without any.
IndentStyle guess_style(const std::vector<std::string_view>& indentations, IndentStyle fallback);

// Moves lines from the patch's indentation to that of the place where they land: a line that is
// indented as `from` gets `to`, deeper and shallower ones keep their distance, in the place's
// style. Where from == to nothing changes at all.
struct Reindent {
  std::string from = {};
  std::string to = {};
  IndentStyle patch_style = {};
  IndentStyle target_style = {};

  std::string operator()(std::string_view line) const;
};

std::string_view leading_blanks(std::string_view line);

}  // namespace patcher
