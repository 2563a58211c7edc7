#include "lane/request_queue.h"

#include <algorithm>

namespace engine::lane {
namespace {

constexpr std::chrono::milliseconds kLook{50};  // how often a waiting client is looked at

}  // namespace

RequestQueue::Turn RequestQueue::enter(const std::function<bool()>& gone) {
  const auto deadline = std::chrono::steady_clock::now() + limits_.wait;
  std::unique_lock lock(mutex_);
  if (!closed_ && line_.size() >= limits_.waiting && busy_) {
    throw ApiError(429, "too many requests are waiting; try again later", "", "queue_full");
  }
  const std::uint64_t ticket = next_ticket_++;
  line_.push_back(ticket);
  const auto give_up = [&](int status, const char* message, const char* code) {
    std::erase(line_, ticket);
    changed_.notify_all();
    throw ApiError(status, message, "", code);
  };
  while (true) {
    if (closed_) give_up(503, "the server is shutting down", "shutting_down");
    if (!busy_ && line_.front() == ticket) break;
    changed_.wait_for(lock, kLook);
    lock.unlock();  // what is asked may want to know the queue's length
    const bool left = gone();
    lock.lock();
    if (left) give_up(499, "the client has gone", "client_gone");
    if (std::chrono::steady_clock::now() > deadline)
      give_up(503, "the request has waited too long for its turn", "queue_timeout");
  }
  line_.pop_front();
  busy_ = true;
  return Turn(*this);
}

void RequestQueue::leave() {
  {
    const std::lock_guard lock(mutex_);
    busy_ = false;
  }
  changed_.notify_all();
}

void RequestQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool RequestQueue::wait_idle(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return !busy_; });
}

std::size_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return line_.size();
}

bool RequestQueue::busy() const {
  const std::lock_guard lock(mutex_);
  return busy_;
}

}  // namespace engine::lane
