#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace patcher {

// How the parts of a diff begin. `text` begins with the line that is asked about, and goes on.

// "@@ -LINE,COUNT +LINE,COUNT @@ heading"
struct HunkHeader {
  size_t before_line = 0;
  size_t before = 0;  // lines, those that are still to come while the hunk is read
  size_t after_line = 0;
  size_t after = 0;
  std::string_view heading = {};

  bool any() const { return before > 0 || after > 0; }
  // Counts a line with this mark. False, and nothing is counted, where none such is to come.
  bool take(char mark);
};
std::optional<HunkHeader> hunk_header(std::string_view line);

// The line with its end; nothing of an empty text.
std::string_view first_line(std::string_view text);

// "diff --git a/x b/x"
bool starts_git_file(std::string_view text);
// "--- x", "+++ x" and a hunk of any kind
bool starts_plain_file(std::string_view text);
// A hunk with all lines that its header counts. One that stops before them is quoted in prose.
bool starts_hunk(std::string_view text);
// What no description holds: a file, a hunk, a section of SVN's, or a line that says of a change
// that the diff does not hold it.
bool starts_diff(std::string_view text);

// What is wrong with a line as diff(1) and SVN write it for what they leave out ("Binary files x
// and y differ", "Only in x: y"); empty for any other.
std::string lost_change(std::string_view line);

}  // namespace patcher
