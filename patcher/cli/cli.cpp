#include "patcher/cli/cli.h"

#include "patcher/base/error.h"
#include "patcher/base/verdict.h"
#include "patcher/cli/command_line.h"

namespace patcher {
namespace {

Format format_of(const Options& options) {
  if (options.json || options.format == "json") return Format::kJson;
  if (options.format == "github") return Format::kGithub;
  return options.format == "sarif" ? Format::kSarif : Format::kText;
}

Reporter reporter_of(const Command& command, Console& console) {
  const Options& options = command.options;
  return {command.manual().name, format_of(options), {options.root, options.series}, console};
}

int run(Command& command, Console& console) {
  console.use_color(command.options.color);
  Reporter report = reporter_of(command, console);
  try {
    return command.run(report);
  } catch (const BrokenEnvironment& e) {
    return report.broken(e.what());
  }
}

int run_checked(std::span<const char* const> args, Console& console) {
  CommandLine line;
  try {
    const Asked asked = line.parse(args);
    if (asked.command != nullptr) return run(*asked.command, console);
    if (asked.fault.empty()) {
      console.page(asked.text);
      return 0;
    }
    console.err({"patcher: ", asked.fault});
    console.err({"Try `patcher --help`."});
    return kExitUsage;
  } catch (const BrokenEnvironment& e) {
    return reporter_of(line.last(), console).broken(e.what());
  }
}

}  // namespace

int run_cli(std::span<const char* const> args, std::ostream& out, std::ostream& err,
            const Terminal& terminal) {
  Console console(out, err, terminal);
  const int code = run_checked(args, console);
  // Whoever reads the output has to know that some of it is missing.
  if (console.flush()) return code;
  console.err({"patcher: standard output: cannot be written"});
  return kExitEnvironment;
}

}  // namespace patcher
