// Who may use the lane: one request at a time, strictly in order of arrival.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "lane/api_error.h"

namespace engine::lane {

class RequestQueue {
 public:
  struct Limits {
    std::size_t waiting = 32;               // requests beside the one that runs
    std::chrono::milliseconds wait{60000};  // of one request
  };

  // The right to use the lane; it ends with this object.
  class Turn {
   public:
    Turn(Turn&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (queue_ != nullptr) queue_->leave();
    }

   private:
    friend class RequestQueue;
    explicit Turn(RequestQueue& queue) : queue_(&queue) {}
    RequestQueue* queue_;
  };

  explicit RequestQueue(const Limits& limits) : limits_(limits) {}

  // Waits for the caller's turn. `gone` is asked now and then whether the client has left. Throws
  // ApiError: 429 where too many wait, 503 after too long a wait or when the queue is closed, 499
  // where the client has gone.
  Turn enter(const std::function<bool()>& gone);

  // From now on no one gets a turn; who waits is sent away.
  void close();

  // Until no one has the turn; false if that took longer than `limit`.
  bool wait_idle(std::chrono::milliseconds limit);

  std::size_t waiting() const;
  bool busy() const;  // someone has the turn

 private:
  void leave();

  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint64_t> line_;  // tickets that wait, in order
  std::uint64_t next_ticket_ = 0;
  bool busy_ = false, closed_ = false;
};

}  // namespace engine::lane
