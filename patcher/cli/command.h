#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/cli/manual.h"
#include "patcher/report/reporter.h"
#include "patcher/series/series.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace patcher {

// The options that verbs share. A verb takes those that it adds.
struct Options {
  std::string root = ".";
  std::string series = "patches/series";
  std::string format = "text";
  bool json = false;  // short for --format json
  std::string color = "auto";
  std::optional<size_t> until;
  bool allow_empty = false;
  std::string rev;
  std::string base;
  std::string base_rev;
  bool follow_moves = false;
  std::string out_dir;

  // The tree that the patches were made from: the directory that --base names or, where only
  // --base-rev is given, --root.
  bool has_base() const { return !base.empty() || !base_rev.empty(); }
  const std::string& base_tree() const { return base.empty() ? root : base; }
};

// One verb: its manual, its options and what it does. It lives for one command line.
class Command {
 public:
  virtual ~Command() = default;
  virtual const Manual& manual() const = 0;
  // Adds the verb's options, which fill this object when `app` parses a command line.
  virtual void add_options(CLI::App& app) = 0;
  // What is wrong with the options as a whole, once they are parsed; empty when nothing is.
  virtual std::string contradiction() const { return {}; }
  // Does it; a verb overrides this, or run_on(), which gets the series that was read. Returns the
  // exit code. Throws BrokenEnvironment.
  virtual int run(Reporter& report);

  Options options;

 protected:
  virtual int run_on(const Series& /*series*/, Reporter& /*report*/) { return 0; }

  // Adds --root, --series, --format of `formats`, --json and --color.
  CLI::Option* add_common(CLI::App& app,
                          const std::vector<std::string>& formats = {"text", "json"});
  // Adds --until and --allow-empty-series.
  void add_part(CLI::App& app);
  void add_expect_changes(CLI::App& app);
  void add_rev(CLI::App& app);
  // Adds --base and --base-rev.
  void add_base(CLI::App& app);
  void add_follow_moves(CLI::App& app);
  void add_out_dir(CLI::App& app, const std::string& description);

  PlanRun run_;
};

std::unique_ptr<Command> check_command();
std::unique_ptr<Command> diff_command();
std::unique_ptr<Command> apply_command();
std::unique_ptr<Command> revert_command();
std::unique_ptr<Command> drift_command();
std::unique_ptr<Command> import_command();
std::unique_ptr<Command> carry_command();

}  // namespace patcher
