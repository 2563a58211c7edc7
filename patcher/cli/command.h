#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/cli/manual.h"
#include "patcher/report/reporter.h"

namespace CLI {
class App;
}

namespace patcher {

// The options of every verb.
struct CommonOptions {
  std::string root = ".";
  std::string series = "patches/series";
  std::string format = "text";
  bool json = false;  // short for --format json
  std::string color = "auto";
};

// One verb: its manual, its options and what it does. It lives for one command line.
class Command {
 public:
  virtual ~Command() = default;

  virtual const Manual& manual() const = 0;
  // Adds the verb's own options, which fill this object when `app` parses a command line.
  virtual void add_options(CLI::App& app) = 0;
  // What is wrong with the options as a whole, once they are parsed; empty when nothing is.
  virtual std::string contradiction() const { return {}; }
  // Returns the exit code. Throws BrokenEnvironment.
  virtual int run(Reporter& report) = 0;

  CommonOptions common;
};

std::unique_ptr<Command> check_command();
std::unique_ptr<Command> diff_command();
std::unique_ptr<Command> apply_command();
std::unique_ptr<Command> revert_command();
std::unique_ptr<Command> drift_command();
std::unique_ptr<Command> import_command();
std::unique_ptr<Command> carry_command();

}  // namespace patcher
