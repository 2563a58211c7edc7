#include "cli/load_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace engine::cli {
namespace {

constexpr std::chrono::milliseconds kFirst{500}, kStep{100};

}  // namespace

LoadProgress::LoadProgress(const Streams& streams, std::size_t total)
    : streams_(streams), total_(total), next_(Clock::now() + kFirst) {}

void LoadProgress::add(std::size_t bytes) {
  done_ = std::min(done_ + bytes, total_);
  if (!streams_.err_is_terminal || Clock::now() < next_) return;
  constexpr double kMegabyte = 1e6;
  streams_.err << fmt::format("\rloading {:.0f} of {:.0f} MB",
                              static_cast<double>(done_) / kMegabyte,
                              static_cast<double>(total_) / kMegabyte)
               << std::flush;
  next_ = Clock::now() + kStep;
  shown_ = true;
}

void LoadProgress::finish() {
  if (shown_) streams_.err << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace engine::cli
