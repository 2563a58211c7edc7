#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "patcher/cli/cli.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  const patcher::Terminal terminal{.out_is_terminal = isatty(STDOUT_FILENO) != 0,
                                   .err_is_terminal = isatty(STDERR_FILENO) != 0,
                                   .no_color = dumb || (no_color != nullptr && *no_color != '\0')};
  const std::span<const char* const> args(argv, static_cast<size_t>(argc));
  return patcher::run_cli(args, std::cout, std::cerr, terminal);
}
