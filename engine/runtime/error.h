// What the runtime refuses.
#pragma once

#include <stdexcept>

namespace engine::runtime {

// Settings that cannot work together, or a request that this engine cannot serve. The message names
// the setting, its value and what is allowed.
struct RequestError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace engine::runtime
