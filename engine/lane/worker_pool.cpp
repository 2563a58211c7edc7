#include "lane/worker_pool.h"

#include <utility>

namespace engine::lane {

WorkerPool::WorkerPool(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i)
    threads_.emplace_back([this] { work(); });
}

void WorkerPool::enqueue(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(job));
  changed_.notify_one();
}

void WorkerPool::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

bool WorkerPool::wants_room() {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() <= idle_ + leaving_) return false;
  ++leaving_;
  return true;
}

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    const auto job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    job();
    lock.lock();
    if (leaving_ > 0) --leaving_;
  }
}

}  // namespace engine::lane
