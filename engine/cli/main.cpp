#include <unistd.h>

#include <iostream>

#include "cli/cli.h"

int main(int argc, char** argv) {
  const engine::cli::Streams streams{std::cin, std::cout, std::cerr, isatty(STDERR_FILENO) == 1};
  return engine::cli::run_cli({argv, static_cast<std::size_t>(argc)}, streams);
}
