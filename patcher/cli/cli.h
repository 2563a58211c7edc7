#pragma once

#include <ostream>
#include <span>

#include "patcher/report/console.h"

namespace patcher {

// The program: args[0] is its name. Returns the exit code (verdict.h). Catches BrokenEnvironment,
// once, here; with --json, as an object with "verb", "exit_code" and "error" too. Output that
// cannot be written is a broken environment, whatever else a run came to. What the environment says
// of the terminal comes from main alone.
int run_cli(std::span<const char* const> args, std::ostream& out, std::ostream& err,
            const Terminal& terminal = {});

}  // namespace patcher
