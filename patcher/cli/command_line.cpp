#include "patcher/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace patcher {
namespace {

// What the parser takes and its help shows.
VerbRow row_of(const Manual& manual, const CLI::App& app) {
  VerbRow verb{.manual = &manual};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) verb.operands = option->get_option_text();
    if (option->get_positional() || option->get_group().empty()) continue;
    OptionRow& row = verb.options.emplace_back();
    for (const std::string& name : option->get_lnames())
      row.names.push_back("--" + name);
    row.value = option->get_option_text();
    row.description = option->get_description();
  }
  return verb;
}

}  // namespace

CommandLine::CommandLine() : app_(std::make_unique<CLI::App>("", "patcher")) {
  app_->set_help_flag();
  for (auto make : {check_command, diff_command, apply_command, revert_command, drift_command,
                    import_command, carry_command}) {
    commands_.push_back(make());
    const Manual& manual = commands_.back()->manual();
    CLI::App* app = app_->add_subcommand(std::string(manual.name));
    commands_.back()->add_options(*app);
    verbs_.push_back(row_of(manual, *app));
  }
  app_->require_subcommand(1);
  verbs_.push_back({.manual = &help_manual(), .operands = "[VERB]"});
  verbs_.push_back({.manual = &completion_manual(), .operands = "bash|zsh|fish"});
  last_ = commands_.front().get();
}

CommandLine::~CommandLine() = default;

// The row that a word names, as "--option" or "--option=VALUE"; null if it names none.
const OptionRow* CommandLine::named(std::string_view word) const {
  const std::string_view name = word.substr(0, word.find('='));
  if (const OptionRow* row = find_option(program_options(), name)) return row;
  for (const VerbRow& verb : verbs_) {
    if (const OptionRow* row = find_option(verb.options, name)) return row;
  }
  return nullptr;
}

CommandLine::Words CommandLine::read(std::span<const char* const> args) const {
  Words words;
  const auto see_value = [&](std::string_view value, std::string_view of) {
    if (!words.fault.empty()) return;
    if (value.empty()) words.fault = fmt::format("{} has an empty value", of);
    if (named(value) != nullptr) {
      words.fault =
          fmt::format("{0} has no value: {1} is an option ({0}={1} if it is meant)", of, value);
    }
  };
  for (size_t i = 1; i < args.size(); ++i) {
    const std::string_view word = args[i];
    if (!word.starts_with('-')) {
      if (word.empty()) see_value(word, "an argument");
      if (!words.plain.empty()) words.rest.push_back(args[i]);
      words.plain.push_back(word);
    } else if (const OptionRow* flag = find_option(program_options(), word)) {
      words.flags.insert(flag->names.back());
    } else {
      words.rest.push_back(args[i]);
      const OptionRow* row = named(word);
      const size_t equals = word.find('=');
      // A flag of the program with a value is the parser's to refuse.
      if (row == nullptr || find_option(program_options(), row->names.back()) != nullptr) continue;
      words.options.push_back(word.substr(0, equals));
      if (row->value.empty()) continue;
      if (equals + 1 == word.size()) see_value("", word.substr(0, equals));
      if (equals != std::string_view::npos || i + 1 == args.size()) continue;
      words.rest.push_back(args[++i]);
      see_value(args[i], word);
    }
  }
  return words;
}

Asked CommandLine::parse(std::span<const char* const> args) {
  const Words words = read(args);
  if (!words.fault.empty()) return {.fault = words.fault};
  if (words.flags.contains("--version")) return {.text = version_text()};
  const auto& plain = words.plain;
  const bool tells = !plain.empty() && (plain[0] == "help" || plain[0] == "completion");
  const bool help = words.flags.contains("--help");
  if (help || tells) return tell(plain, help);
  if (words.flags.size() + (plain.empty() ? 0 : 1) > 1) {
    return {.fault = "give one of: a verb, --apply, --revert"};
  }
  const std::string_view name = !words.flags.empty() ? words.flags.begin()->substr(2)
                                : plain.empty()      ? verbs_.front().manual->name
                                                     : plain[0];
  const VerbRow* verb = find_verb(verbs_, name);
  if (verb == nullptr) return {.fault = fmt::format("there is no verb `{}`", name)};
  std::string fault = misplaced(words.options, *verb);
  if (!fault.empty()) return {.fault = std::move(fault)};
  return run_verb(name, words.rest);
}

Asked CommandLine::run_verb(std::string_view name, std::vector<const char*> args) {
  const auto it = std::find_if(commands_.begin(), commands_.end(),
                               [&](const auto& c) { return c->manual().name == name; });
  last_ = it->get();
  const std::string verb(name);
  args.insert(args.begin(), {"patcher", verb.c_str()});
  try {
    app_->parse(static_cast<int>(args.size()), args.data());
  } catch (const CLI::ParseError& e) {
    return {.fault = e.what()};
  }
  Options& options = last_->options;
  if (options.json && options.format != "text" && options.format != "json") {
    return {.fault = fmt::format("--json and --format {} contradict each other", options.format)};
  }
  if (options.json) options.format = "json";
  std::string fault = last_->contradiction();
  if (!fault.empty()) return {.fault = std::move(fault)};
  return {.command = last_};
}

// `help VERB`, `VERB --help`, `completion SHELL`: what needs no tree and no series.
Asked CommandLine::tell(const std::vector<std::string_view>& plain, bool help) const {
  const std::string_view first = plain.empty() ? "" : plain[0];
  const std::string_view second = plain.size() > 1 ? plain[1] : "";
  if (first == "completion" && !help) {
    std::string script = plain.size() == 2 ? completion_script(second, verbs_) : "";
    if (script.empty()) return {.fault = "completion needs one of bash, zsh, fish"};
    return {.text = std::move(script)};
  }
  if (first.empty() || (first == "help" && plain.size() == 1 && !help)) {
    return {.text = overview(verbs_)};
  }
  const std::string_view name = help ? first : second;
  const VerbRow* verb = find_verb(verbs_, name);
  if (verb == nullptr) return {.fault = fmt::format("there is no verb `{}`", name)};
  return {.text = verb_page(*verb)};
}

// An option that another verb takes: says which, where the parser would only not know it.
std::string CommandLine::misplaced(const std::vector<std::string_view>& options,
                                   const VerbRow& verb) const {
  for (std::string_view option : options) {
    if (find_option(verb.options, option) != nullptr || option == "--series") continue;
    std::string owners;
    for (const VerbRow& other : verbs_) {
      if (find_option(other.options, option) == nullptr) continue;
      owners += fmt::format("{}{}", owners.empty() ? "" : ", ", other.manual->name);
    }
    return fmt::format("{} does not take {}, which belongs to {}", verb.manual->name, option,
                       owners);
  }
  return {};
}

}  // namespace patcher
