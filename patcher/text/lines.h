#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patcher {

// Where the lines of a text begin. Lines are counted from 0 here and from 1 in messages; a text
// that ends in a newline has no extra empty line. Does not own the text.
class Lines {
 public:
  explicit Lines(std::string_view text);

  size_t count() const { return starts_.size(); }
  size_t line_of(uint32_t byte) const;
  uint32_t begin(size_t line) const { return starts_[line]; }
  // The byte behind the line's text, where its line end begins.
  uint32_t text_end(size_t line) const;
  // The byte behind its line end: the next line's begin or the text's end.
  uint32_t end(size_t line) const;
  std::string_view text(size_t line) const;
  // "\n", "\r\n" or, for a last line without one, "".
  std::string_view line_end(size_t line) const;
  // The leading blanks and tabs (a byte order mark is not part of it).
  std::string_view indentation(size_t line) const;

 private:
  std::string_view source_;
  std::vector<uint32_t> starts_;
};

// The lines of a text without their line ends; a text that ends in a newline has no extra empty
// line.
std::vector<std::string_view> text_lines(std::string_view text);

// The text without the byte order mark of UTF-8 at its begin.
std::string_view without_bom(std::string_view text);

// The text without the `blanks` around it.
std::string_view trim(std::string_view s, std::string_view blanks = " \t");

// A line without the carriage return at its end.
std::string_view without_cr(std::string_view line);

// The text without white space: equal for texts that say the same.
std::string without_blanks(std::string_view text);

// The text with its last line ended, as the line before it is, or not ended. REQUIRES a text that
// has it the other way.
std::string with_last_newline(std::string text, bool ended);

// Whether the line holds nothing but blanks and tabs.
bool is_blank(std::string_view line);

// How many letters and digits of ASCII it has.
size_t letters(std::string_view text);

// Whether the text holds the identifier, not as a part of a longer one.
bool has_word(std::string_view text, std::string_view word);

}  // namespace patcher
