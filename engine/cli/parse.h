// The command line's grammar: every option, its help text and its range.
#pragma once

#include <span>
#include <variant>

#include "cli/cli.h"
#include "cli/options.h"

namespace engine::cli {

using Command =
    std::variant<RunSettings, ChatSettings, DigestSettings, KvDiffSettings, InfoSettings,
                 BenchSettings, ServeSettings, TokenizeSettings, InitModelSettings>;

// The command to run, or the exit code where the command line was help or was wrong; what there is
// to say has then been printed.
std::variant<Command, int> parse_command_line(std::span<const char* const> args,
                                              const Streams& streams);

}  // namespace engine::cli
