// What a step of tokenizer.json looks for: literal text, a regular expression, or characters of a
// kind. Internal.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/json_file.h"
#include "model/regex.h"

namespace engine::model {

// Const after construction; any thread may call it.
class Pattern {
 public:
  using Kind = bool (*)(char32_t);

  explicit Pattern(std::string literal) : what_(std::move(literal)) {}
  explicit Pattern(Regex regex) : what_(std::move(regex)) {}
  explicit Pattern(Kind kind) : what_(kind) {}

  // {"String": text} or {"Regex": pattern}. Throws ModelError.
  static Pattern read(const JsonNode& node);

  // Matches in order; none overlap. Throws ModelError as Regex does.
  // REQUIRES: valid UTF-8, but for literal text.
  std::vector<Range> matches(std::string_view text) const;

  // The text, if it is literal.
  const std::string* literal() const { return std::get_if<std::string>(&what_); }

 private:
  std::variant<std::string, Regex, Kind> what_;
};

// Unicode's White_Space.
bool is_white_space(char32_t point);
// General category N.
bool is_number(char32_t point);
// What a word is made of: Alphabetic, marks, decimal digits, connectors and join controls.
bool is_word(char32_t point);
// General category P as the library knows it, or what ASCII counts as punctuation.
bool is_punctuation(char32_t point);

}  // namespace engine::model
