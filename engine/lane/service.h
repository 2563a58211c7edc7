// Runs requests on the lane and watches over them: cancellation, time limits, statistics. Knows
// nothing of HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "lane/history.h"
#include "lane/metrics.h"
#include "lane/outcome.h"
#include "lane/request_queue.h"

namespace engine::lane {

// Who waits for a reply, since when; each function may be empty. Called on the thread that runs the
// request.
struct Client {
  std::chrono::steady_clock::time_point arrived;
  std::function<bool()> gone;  // asked between launches
  std::function<void(const ReplyDelta&)> on_delta;
  std::function<void(std::size_t done, std::size_t total)> on_prefill;
};

class Service {
 public:
  struct Limits {
    RequestQueue::Limits queue;
    std::chrono::milliseconds request{600000};  // from its turn to its end
  };
  using Clock = std::chrono::steady_clock;

  // `engine` must outlive it, and no one else may run it.
  Service(Served served, runtime::Engine& engine, const Limits& limits);

  const Served& served() const { return served_; }
  Metrics& metrics() { return metrics_; }
  History& history() { return history_; }
  // What GET /state shows: {"model", "context", "grid", "cache", "waiting"} and what History has.
  nlohmann::ordered_json state_json() const;
  // What /metrics shows now.
  std::string metrics_text();

  // Waits for the lane. Throws what RequestQueue::enter throws.
  RequestQueue::Turn enter(const std::function<bool()>& gone) { return queue_.enter(gone); }

  // Runs the request. Throws ApiError: 408 past the time limit, 503 if cancelled by shut_down, 500
  // if the backend fails.
  Outcome run(const GenerationRequest& request, const RequestQueue::Turn& turn,
              const Client& client);

  // Refuses new requests and gives the running one `grace` to finish; true if none runs now.
  bool close(std::chrono::milliseconds grace);
  // After close: cancels what runs at its next chunk or step, and waits for that.
  void cancel();

 private:
  const Served served_;
  runtime::Engine& engine_;
  const Limits limits_;
  const bool caches_;
  Metrics metrics_;
  History history_;
  RequestQueue queue_;
  LastRendering last_;         // of a chat; who has the turn uses it, and this:
  std::size_t prefilled_ = 0;  // leading rows of the buffer that prefill wrote
  std::atomic<bool> cancel_ = false;
};

// "chatcmpl-" and the like with 24 random hex digits.
std::string new_id(std::string_view prefix);

}  // namespace engine::lane
