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

// A command line by its words, before it is parsed: for what holds whatever its verb is.
struct Words {
  std::vector<std::string_view> plain = {};    // neither options nor their values
  std::vector<std::string_view> options = {};  // the names of those that some verb takes
  std::vector<const char*> rest = {};          // all but the program's name, the verb and its flags
  bool apply = false;
  bool revert = false;
  bool help = false;
  bool version = false;
  // What is wrong with the first value that is none; empty if all are. A script writes
  // `--rev "$REV"` or `--rev $REV` and means a revision: where the variable is not set, the value
  // is empty or the next option, and must pass for neither "not given" nor a name.
  std::string fault = {};
};

class WordReader {
 public:
  WordReader(std::span<const char* const> args, const std::vector<VerbRow>& verbs)
      : args_(args), verbs_(verbs) {}

  Words read() {
    for (at_ = 1; at_ < args_.size(); ++at_)
      take(args_[at_]);
    return std::move(words_);
  }

 private:
  // The row that a word names, as "--option" or "--option=VALUE"; null if it names none.
  const OptionRow* named(std::string_view word) const {
    const std::string_view name = word.substr(0, word.find('='));
    if (const OptionRow* row = find_option(program_options(), name)) return row;
    for (const VerbRow& verb : verbs_) {
      if (const OptionRow* row = find_option(verb.options, name)) return row;
    }
    return nullptr;
  }

  void take(std::string_view word) {
    if (!word.starts_with('-')) {
      if (word.empty()) see_value(word, "an argument");
      words_.plain.push_back(word);
      if (words_.plain.size() > 1) words_.rest.push_back(args_[at_]);
      return;
    }
    const OptionRow* row = named(word);
    if (row != nullptr && find_option(program_options(), row->names.front()) != nullptr) {
      return take_flag(word);
    }
    words_.rest.push_back(args_[at_]);
    if (row == nullptr) return;
    const size_t equals = word.find('=');
    words_.options.push_back(word.substr(0, equals));
    if (row->value.empty()) return;
    if (equals != std::string_view::npos) {
      if (equals + 1 == word.size()) see_value("", word.substr(0, equals));
    } else if (at_ + 1 < args_.size()) {
      words_.rest.push_back(args_[++at_]);
      see_value(args_[at_], word);
    }
  }

  void take_flag(std::string_view word) {
    if (word == "--apply") {
      words_.apply = true;
    } else if (word == "--revert") {
      words_.revert = true;
    } else if (word == "--version") {
      words_.version = true;
    } else if (word == "-h" || word == "--help") {
      words_.help = true;
    } else {
      words_.rest.push_back(args_[at_]);  // a flag with a value: the parser's to refuse
    }
  }

  void see_value(std::string_view value, std::string_view of) {
    if (!words_.fault.empty()) return;
    if (value.empty()) words_.fault = fmt::format("{} has an empty value", of);
    if (named(value) != nullptr) {
      words_.fault =
          fmt::format("{0} has no value: {1} is an option ({0}={1} if it is meant)", of, value);
    }
  }

  const std::span<const char* const> args_;
  const std::vector<VerbRow>& verbs_;
  Words words_;
  size_t at_ = 0;
};

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

Asked CommandLine::parse(std::span<const char* const> args) {
  const Words words = WordReader(args, verbs_).read();
  if (!words.fault.empty()) return {.fault = words.fault};
  if (words.version) return {.text = version_text()};
  const auto& plain = words.plain;
  const bool tells = !plain.empty() && (plain[0] == "help" || plain[0] == "completion");
  if (words.help || tells) return tell(plain, words.help);
  if ((plain.empty() ? 0 : 1) + (words.apply ? 1 : 0) + (words.revert ? 1 : 0) > 1) {
    return {.fault = "give one of: a verb, --apply, --revert"};
  }
  std::string_view name = plain.empty() ? verbs_.front().manual->name : plain[0];
  if (words.apply) name = "apply";
  if (words.revert) name = "revert";
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
  CommonOptions& common = last_->common;
  if (common.json && common.format != "text" && common.format != "json") {
    return {.fault = fmt::format("--json and --format {} contradict each other", common.format)};
  }
  if (common.json) common.format = "json";
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
