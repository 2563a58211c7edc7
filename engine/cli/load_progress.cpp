#include "cli/load_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

namespace engine::cli {
namespace {

constexpr std::chrono::milliseconds kFirst{500}, kStep{100};

}  // namespace

LoadProgress::LoadProgress(const Streams& streams, std::size_t total,
                           std::function<Clock::time_point()> now)
    : streams_(streams), total_(total), now_(std::move(now)), next_(now_() + kFirst) {}

void LoadProgress::add(std::size_t bytes) {
  done_ = std::min(done_ + bytes, total_);
  if (!streams_.err_is_terminal || now_() < next_) return;
  constexpr double kMegabyte = 1e6;
  streams_.err << fmt::format("\rloading {:.0f} of {:.0f} MB",
                              static_cast<double>(done_) / kMegabyte,
                              static_cast<double>(total_) / kMegabyte)
               << std::flush;
  next_ = now_() + kStep;
  shown_ = true;
}

void LoadProgress::finish() {
  if (shown_) streams_.err << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace engine::cli
