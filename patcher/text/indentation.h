#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace patcher {

// How deep one level is: a tab, or `width` blanks.
struct IndentStyle {
  bool tabs = false;
  int width = 2;
};

// What the indentations of a text's lines, given in order, show of its style.
class IndentSurvey {
 public:
  // `blanks` is borrowed until the next line is added.
  void add(std::string_view blanks);

  // The style that most lines' increases over their predecessor show, or their decreases where
  // there is no increase; `fallback` without any.
  IndentStyle style(IndentStyle fallback) const;
  // Whether every line is whole levels of a style.
  bool whole_levels_of(const IndentStyle& style) const;

 private:
  struct Steps {
    std::map<size_t, int> widths = {};  // of steps by blanks: how often each
    int tabbed = 0;
    int spaced = 0;

    void count(std::string_view step, bool is_level);
  };

  Steps deeper_;
  Steps shallower_;
  std::string_view last_;
  bool any_ = false;
  bool any_blank_ = false;
  bool any_tab_ = false;
  size_t widths_ = 0;  // the greatest width that all lines' are whole times of
};

// Whether two texts are for certain indented in different styles: either is whole levels of its own
// style throughout, and the patch's cannot be whole levels of the target's. Aligned continuation
// lines in either leave it open, which is no.
bool styles_differ(const IndentSurvey& patch, const IndentStyle& patch_style,
                   const IndentSurvey& target, const IndentStyle& target_style);

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
