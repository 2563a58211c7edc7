// Names for the cases of parameterised tests.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

// The name of case `index`, which says in `words` what it is about. GoogleTest allows letters,
// digits and `_` in a name and no name twice; so anything else becomes one `_`, and the index
// stands in front.
inline std::string case_name(std::size_t index, std::string_view words) {
  constexpr std::size_t kLongest = 60;
  std::string name = std::to_string(index) + "_";
  for (const unsigned char c : words) {
    if (std::isalnum(c) != 0) {
      name += static_cast<char>(c);
    } else if (name.back() != '_') {
      name += '_';
    }
    if (name.size() == kLongest) break;
  }
  return name;
}

// A word that names its case alone: `-` and whatever else is not allowed becomes `_`.
inline std::string case_word(std::string_view word) {
  std::string name(word);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}
