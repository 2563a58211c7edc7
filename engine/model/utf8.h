// Where characters begin and end in bytes that may not be UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace engine::model {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

enum class Utf8 {
  kCharacter,   // one whole character
  kInvalid,     // a maximal run of bytes that begins no character (Unicode 15, section 3.9)
  kIncomplete,  // the text ends inside a character
};

struct Utf8Step {
  Utf8 kind;
  std::size_t length;  // in bytes, at least 1
};

// What `text` begins with.  REQUIRES: not empty.
Utf8Step utf8_step(std::string_view text);

// The code point of a whole character.
char32_t code_point(std::string_view character);

// Appends the character of a code point that is no surrogate.
void append_character(std::string& text, char32_t point);

// The text with U+FFFD for each maximal run of bytes that begins no character.
std::string replace_invalid(std::string_view text);

// Length of the longest leading stretch that is all whole characters (`valid`), or that holds none.
std::size_t utf8_stretch(std::string_view text, bool valid);

}  // namespace engine::model
