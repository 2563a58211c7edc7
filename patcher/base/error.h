#pragma once

#include <stdexcept>
#include <string>

namespace patcher {

// The one exception of the patcher: its environment is broken (a file cannot be read or written, a
// directory does not exist, another run holds the tree). Thrown anywhere, caught once, in run_cli.
// What a patch or a tree may legitimately be is never an exception but a Verdict.
class BrokenEnvironment : public std::runtime_error {
 public:
  explicit BrokenEnvironment(const std::string& what) : std::runtime_error(what) {}
};

}  // namespace patcher
