// How the benchmarks of single operations take time.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

#include "kernels/ops.h"

namespace engine::bench {

// Microseconds of one, the smallest mean of three.
inline double time_of(kernels::Backend& backend, const std::function<void()>& work) {
  constexpr int kRepetitions = 20;
  double best = 1e30;
  work();
  for (int round = 0; round < 3; ++round) {
    backend.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRepetitions; ++i)
      work();
    backend.synchronize();
    const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - begin;
    best = std::min(best, all.count() / kRepetitions);
  }
  return best;
}

}  // namespace engine::bench
