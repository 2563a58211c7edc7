#pragma once

#include <ostream>
#include <span>

namespace patcher {

// The program: args[0] is its name. Returns the exit code (verdict.h). Catches BrokenEnvironment,
// once, here; with --json, as an object with "verb", "exit_code" and "error" too. Output that
// cannot be written is a broken environment, whatever else a run came to. Reads NO_COLOR and
// whether `out` is a terminal only through what main passes on.
struct Terminal {
  bool out_is_terminal = false;
  bool no_color = false;  // NO_COLOR is set
};
int run_cli(std::span<const char* const> args, std::ostream& out, std::ostream& err,
            const Terminal& terminal = {});

}  // namespace patcher
