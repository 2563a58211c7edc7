#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/manual.h"

namespace patcher {

// A command line by its words, before it is parsed: for what holds whatever else it says.
struct Words {
  std::vector<std::string_view> plain = {};  // neither options nor their values
  bool help = false;                         // --help or -h is there
  // The first option that is given an empty value, or "an argument"; empty if there is none. A
  // script writes `--rev "$REV"` and means a revision: an empty one must not pass for none.
  std::string given_nothing = {};
};

// args[0] is the program's name.
Words words_of(std::span<const char* const> args, const std::vector<OptionRow>& options);

}  // namespace patcher
