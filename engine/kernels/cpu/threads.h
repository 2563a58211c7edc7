// Worker threads of the CPU backend. How work is spread never changes bits: every item of a loop
// writes its own outputs.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cstddef>

namespace engine::kernels::cpu {

class Threads {
 public:
  // 0 means one per core.
  explicit Threads(std::size_t count)
      : arena_(count == 0 ? tbb::task_arena::automatic : static_cast<int>(count)) {}

  // Calls body(begin, end) over pieces of [0, items). `cost` is one item's work in units of about a
  // nanosecond; a loop too short to be worth waking a thread runs on the caller's.
  template <typename Body>
  void for_range(std::size_t items, std::size_t cost, const Body& body) {
    if (items < 2 || items * cost < 2 * kWorthATask || arena_.max_concurrency() == 1) {
      if (items > 0) body(std::size_t{0}, items);
      return;
    }
    const std::size_t grain = cost >= kWorthATask ? 1 : kWorthATask / (cost + 1) + 1;
    arena_.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, items, grain),
                        [&](const auto& range) { body(range.begin(), range.end()); });
    });
  }

 private:
  static constexpr std::size_t kWorthATask = 10'000;

  tbb::task_arena arena_;
};

}  // namespace engine::kernels::cpu
