// The threads that serve connections. Unlike httplib's they know when a client waits for one, so
// that a connection that only waits for its own client can give way.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace engine::lane {

class WorkerPool final : public httplib::TaskQueue {
 public:
  explicit WorkerPool(std::size_t threads);

  void enqueue(std::function<void()> job) override;
  // Waits for all jobs, those that wait included.
  void shutdown() override;

  // Asked by a job that could end now. True once for each job that waits for a thread: then the
  // caller must end.
  bool wants_room();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0, leaving_ = 0;  // threads without a job; jobs that were told to end
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace engine::lane
