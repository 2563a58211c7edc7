// The progress of a long load: one line on a terminal, wiped at its end.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "cli/cli.h"

namespace engine::cli {

class LoadProgress {
 public:
  using Clock = std::chrono::steady_clock;

  // Of `total` bytes. Shows nothing where streams.err is no terminal, nor in the first half second.
  LoadProgress(const Streams& streams, std::size_t total,
               std::function<Clock::time_point()> now = Clock::now);
  ~LoadProgress() { finish(); }
  LoadProgress(const LoadProgress&) = delete;
  LoadProgress& operator=(const LoadProgress&) = delete;

  void add(std::size_t bytes);
  void finish();

 private:
  const Streams& streams_;
  std::size_t total_, done_ = 0;
  std::function<Clock::time_point()> now_;
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace engine::cli
