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
