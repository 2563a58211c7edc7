#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "patcher/report/diff_view.h"
#include "patcher/syntax/source.h"

namespace patcher {

// Text as HTML content or attribute value: `& < > " '` as references, bytes that are no UTF-8 and
// control characters but tab and newline as U+FFFD. Nothing that a patch or a file says is markup.
std::string html_escaped(std::string_view text);

// The lines of one file as HTML, coloured by what their tokens are: `<b class="k">` with k
// (keyword), c (comment), s (string), n (number) or d (preprocessor line). Borrows the source.
class ColoredLines {
 public:
  explicit ColoredLines(const Source& source);
  // Line `line`, from 0, without its end; what `changed` covers is inside of <mark>.
  std::string line(size_t line, const Spans& changed) const;

 private:
  const Source& source_;
  std::string kind_;  // of each byte: one of the letters, or a blank
};

}  // namespace patcher
