// The progress of a long load: one line on a terminal, wiped at its end.
#pragma once

#include <chrono>
#include <cstddef>

#include "cli/cli.h"

namespace engine::cli {

class LoadProgress {
 public:
  // Of `total` bytes. Shows nothing where streams.err is no terminal, nor in the first half second.
  LoadProgress(const Streams& streams, std::size_t total);

  void add(std::size_t bytes);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  const Streams& streams_;
  std::size_t total_, done_ = 0;
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace engine::cli
