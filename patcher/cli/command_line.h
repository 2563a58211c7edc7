#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "patcher/cli/command.h"

namespace patcher {

// What a command line asks for: one of the three.
struct Asked {
  Command* command = nullptr;  // a verb to run, its options set
  std::string text = {};       // a text to print
  std::string fault = {};      // what is wrong with the command line
};

// All verbs, and the grammar of the command line. The verb and its options may stand in any order,
// so that a wrapper can give options before the words that it passes on; without a verb, `check`
// runs.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // args[0] is the program's name. The command is this object's. Throws BrokenEnvironment, after
  // which last() is the verb that was asked for.
  Asked parse(std::span<const char* const> args);
  // The verb of parse(); the default one before.
  Command& last() { return *last_; }

  // In the order of the help; the default verb first.
  const std::vector<VerbRow>& verbs() const { return verbs_; }

 private:
  // A command line by its words, before it is parsed: for what holds whatever its verb is.
  struct Words {
    std::vector<std::string_view> plain = {};    // neither options nor their values
    std::vector<std::string_view> options = {};  // the names of those that some verb takes
    std::set<std::string_view> flags = {};       // the program's own
    std::vector<const char*> rest = {};  // all but the verb, these flags and the program's name
    // What is wrong with the first value that is none; empty if all are. A script writes
    // `--rev "$REV"` or `--rev $REV` and means a revision: where the variable is not set, the value
    // is empty or the next option, and must pass for neither "not given" nor a name.
    std::string fault = {};
  };
  const OptionRow* named(std::string_view word) const;
  Words read(std::span<const char* const> args) const;
  Asked run_verb(std::string_view name, std::vector<const char*> args);
  Asked tell(const std::vector<std::string_view>& plain, bool help) const;
  std::string misplaced(const std::vector<std::string_view>& options, const VerbRow& verb) const;

  std::vector<std::unique_ptr<Command>> commands_;
  std::unique_ptr<CLI::App> app_;
  std::vector<VerbRow> verbs_;
  Command* last_;
};

}  // namespace patcher
