#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/cli/manual.h"

namespace patcher {

// A command line by its words, before it is parsed: for what holds whatever else it says.
struct Words {
  std::vector<std::string_view> plain = {};  // neither options nor their values
  bool help = false;                         // --help or -h is there
  // What is wrong with the first value that is none; empty if all are. A script writes
  // `--rev "$REV"` or `--rev $REV` and means a revision: where the variable is not set, the value
  // is empty or the next option, and must pass for neither "not given" nor a name.
  std::string fault = {};
};

// args[0] is the program's name.
Words words_of(std::span<const char* const> args, const std::vector<OptionRow>& options);

}  // namespace patcher
