#pragma once

#include <string>
#include <string_view>

namespace patcher {

// How many there are of a thing, for people: counted(1, "patch") is "1 patch", counted(2, "patch")
// "2 patches". Takes the nouns whose plural ends in -s or, behind -ch and -s, in -es.
inline std::string counted(size_t count, std::string_view noun) {
  std::string out = std::to_string(count) + " " + std::string(noun);
  if (count != 1) out += noun.ends_with("ch") || noun.ends_with('s') ? "es" : "s";
  return out;
}

}  // namespace patcher
