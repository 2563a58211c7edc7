// The `engine` program, callable in process.
#pragma once

#include <iosfwd>
#include <span>

namespace engine::cli {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal;  // progress is shown there, and only there
};

// Exit codes, as --help lists them.
enum ExitCode : int {
  kOk = 0,
  kDiffers = 1,  // kv-diff found a difference
  kUsage = 2,    // the command line
  kFailed = 3,   // model, request, settings or backend; one line on err says what
};

// args[0] is the program's name. Never throws and never exits.
int run_cli(std::span<const char* const> args, const Streams& streams);

}  // namespace engine::cli
