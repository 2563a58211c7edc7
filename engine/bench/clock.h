// Wall time of work that a backend may still be doing when a call returns.
#pragma once

#include <chrono>
#include <cstddef>

#include "kernels/ops.h"

namespace engine::bench {

// Seconds of one call(i), the mean of i = 1 .. repeats, after call(0), which is not counted; waits
// for the backend at both ends.
template <typename Call>
double seconds_of(kernels::Backend& backend, std::size_t repeats, const Call& call) {
  call(std::size_t{0});
  backend.synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 1; i <= repeats; ++i)
    call(i);
  backend.synchronize();
  const std::chrono::duration<double> total = std::chrono::steady_clock::now() - start;
  return total.count() / static_cast<double>(repeats);
}

}  // namespace engine::bench
