#include "patcher/command_words.h"

#include <algorithm>

namespace patcher {
namespace {

// The row that `arg` names, as "--option" or "--option=VALUE"; null if none takes a value so.
const OptionRow* takes_value(std::string_view arg, const std::vector<OptionRow>& options) {
  const std::string_view name = arg.substr(0, arg.find('='));
  const auto it = std::find_if(options.begin(), options.end(), [&](const OptionRow& o) {
    return !o.value.empty() && std::find(o.names.begin(), o.names.end(), name) != o.names.end();
  });
  return it == options.end() ? nullptr : &*it;
}

}  // namespace

Words words_of(std::span<const char* const> args, const std::vector<OptionRow>& options) {
  Words words;
  const auto see_empty = [&](std::string_view value, std::string_view of) {
    if (value.empty() && words.given_nothing.empty()) words.given_nothing = of;
  };
  for (size_t i = 1; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (!arg.starts_with('-')) {
      words.plain.push_back(arg);
      see_empty(arg, "an argument");
      continue;
    }
    words.help = words.help || arg == "--help" || arg == "-h";
    if (takes_value(arg, options) == nullptr) continue;
    const size_t equals = arg.find('=');
    if (equals != std::string_view::npos) {
      see_empty(arg.substr(equals + 1), arg.substr(0, equals));
    } else if (++i < args.size()) {
      see_empty(args[i], arg);
    }
  }
  return words;
}

}  // namespace patcher
