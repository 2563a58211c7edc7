#include "patcher/cli/command_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace patcher {
namespace {

// The row that `arg` names, as "--option" or "--option=VALUE"; null if none.
const OptionRow* named(std::string_view arg, const std::vector<OptionRow>& options) {
  const std::string_view name = arg.substr(0, arg.find('='));
  const auto it = std::find_if(options.begin(), options.end(), [&](const OptionRow& o) {
    return std::find(o.names.begin(), o.names.end(), name) != o.names.end();
  });
  return it == options.end() ? nullptr : &*it;
}

}  // namespace

Words words_of(std::span<const char* const> args, const std::vector<OptionRow>& options) {
  Words words;
  const auto see_value = [&](std::string_view value, std::string_view of) {
    if (!words.fault.empty()) return;
    if (value.empty()) words.fault = fmt::format("{} has an empty value", of);
    if (named(value, options) != nullptr) {
      words.fault =
          fmt::format("{0} has no value: {1} is an option ({0}={1} if it is meant)", of, value);
    }
  };
  for (size_t i = 1; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (!arg.starts_with('-')) {
      words.plain.push_back(arg);
      if (arg.empty()) see_value(arg, "an argument");
      continue;
    }
    words.help = words.help || arg == "--help" || arg == "-h";
    const OptionRow* option = named(arg, options);
    if (option == nullptr || option->value.empty()) continue;
    const size_t equals = arg.find('=');
    if (equals == std::string_view::npos) {
      if (++i < args.size()) see_value(args[i], arg);
    } else if (equals + 1 == arg.size()) {
      see_value("", arg.substr(0, equals));
    }
  }
  return words;
}

}  // namespace patcher
