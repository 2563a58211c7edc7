// What the page at / shows of the lane: what runs, whose rows are kept, and the last requests.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>

#include "lane/outcome.h"
#include "lane/request.h"

namespace engine::lane {

// Any thread may call it. No text of a prompt or a reply is kept.
class History {
 public:
  // A request has the lane; how far it is; and what it leaves: `kept` rows of `tokens`.
  void begin(const GenerationRequest& request);
  void prefilled(std::size_t rows);
  void generated();
  void end(const GenerationRequest& request, const Outcome& outcome, std::size_t kept);
  // It failed, and its rows count for nothing.
  void fail();

  // A line of the log, without a prompt.
  void add(nlohmann::ordered_json line);

  // {"totals", "running", "conversations", "requests"}: {"requests", "prompt", "kept", "generated"}
  // since the start; null or {"prompt", "prefilled", "generated"}; the
  // latest conversation first, {"number", "turns", "tokens", "kept", "at"}, of which only the first
  // has rows; the latest request first.
  nlohmann::ordered_json json() const;

 private:
  struct Conversation {
    std::size_t number = 0, turns = 0, prompt = 0, tokens = 0, kept = 0;
    std::int64_t at = 0;
  };
  struct Totals {
    std::size_t requests = 0, prompt = 0, kept = 0, generated = 0;
  };
  struct Running {
    std::size_t prompt = 0, prefilled = 0, generated = 0;
  };

  bool goes_on(const GenerationRequest& request, const Outcome& outcome) const;

  mutable std::mutex mutex_;
  std::optional<Running> running_;
  Totals totals_;
  std::size_t begun_ = 0;                     // conversations so far
  std::deque<Conversation> conversations_;    // the latest first
  std::deque<nlohmann::ordered_json> lines_;  // likewise
};

}  // namespace engine::lane
