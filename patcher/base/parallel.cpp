#include "patcher/base/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace patcher {
namespace {

thread_local bool inside = false;  // of a call of `work`

class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const bool before_ = inside;
};

// Linux may queue a new thread behind the one that made it and leave it there for milliseconds,
// longer than its whole work takes, while other cores idle: 2 ms in the median on a virtual machine
// with two. Forbidding it this core for a moment moves it at once. Nothing depends on it.
void move_off_this_core(std::jthread& thread) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<size_t>(sched_getcpu()), &others);
  if (pthread_setaffinity_np(thread.native_handle(), sizeof others, &others) != 0) return;
  pthread_setaffinity_np(thread.native_handle(), sizeof allowed, &allowed);
}

}  // namespace

void parallel_for(size_t count, const std::function<void(size_t)>& work) {
  const size_t cores = inside ? 1 : std::max(1u, std::thread::hardware_concurrency());
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    const Inside mark;
    for (size_t i = next++; i < count; i = next++)
      work(i);
  };
  std::vector<std::future<void>> results;
  std::vector<std::jthread> helpers;
  while (helpers.size() + 1 < std::min(cores, count)) {
    std::packaged_task<void()> task(take);
    results.push_back(task.get_future());
    try {
      move_off_this_core(helpers.emplace_back(std::move(task)));
    } catch (const std::system_error&) {  // no more threads are to be had: the others do it all
      results.pop_back();
      break;
    }
  }
  take();
  helpers.clear();  // joins
  for (std::future<void>& result : results)
    result.get();
}

}  // namespace patcher
