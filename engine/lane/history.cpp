#include "lane/history.h"

#include <ctime>

#include "lane/response.h"

namespace engine::lane {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kConversations = 8, kRequests = 30;

}  // namespace

void History::begin(const GenerationRequest& request) {
  const std::lock_guard lock(mutex_);
  running_ = Running{.prompt = request.engine.prompt.size()};
}

void History::prefilled(std::size_t rows) {
  const std::lock_guard lock(mutex_);
  running_->prefilled = rows;
}

void History::generated() {
  const std::lock_guard lock(mutex_);
  ++running_->generated;
}

void History::fail() {
  const std::lock_guard lock(mutex_);
  running_.reset();
  if (!conversations_.empty()) conversations_.front().kept = 0;
}

void History::end(const GenerationRequest& request, const Outcome& outcome, std::size_t kept) {
  const std::lock_guard lock(mutex_);
  running_.reset();
  ++totals_.requests;
  totals_.prompt += outcome.stats.prompt_tokens;
  totals_.kept += usage_of({&outcome, 1}).cached;
  totals_.generated += outcome.stats.generated_tokens;
  if (!goes_on(request, outcome)) {
    if (!conversations_.empty()) conversations_.front().kept = 0;
    conversations_.push_front({.number = ++begun_});
    if (conversations_.size() > kConversations) conversations_.pop_back();
  }
  Conversation& latest = conversations_.front();
  ++latest.turns;
  latest.prompt = request.engine.prompt.size();
  latest.tokens = latest.prompt + outcome.stats.generated_tokens;
  latest.kept = kept;
  latest.at = std::time(nullptr);
}

// A chat goes on if it says what was said before, however a template renders that now; a completion
// if it begins with the prompt before.
bool History::goes_on(const GenerationRequest& request, const Outcome& outcome) const {
  if (conversations_.empty()) return false;
  if (outcome.departure) return outcome.departure->by != "messages";
  const ordered_json stats = stats_json(outcome.stats);
  if (!stats.contains("common_prefix")) return request.chat;
  return stats["common_prefix"].get<std::size_t>() >= conversations_.front().prompt;
}

void History::add(ordered_json line) {
  const std::lock_guard lock(mutex_);
  line["at"] = std::time(nullptr);
  lines_.push_front(std::move(line));
  if (lines_.size() > kRequests) lines_.pop_back();
}

ordered_json History::json() const {
  const std::lock_guard lock(mutex_);
  ordered_json running, conversations = ordered_json::array(), requests = conversations;
  if (running_)
    running = {{"prompt", running_->prompt},
               {"prefilled", running_->prefilled},
               {"generated", running_->generated}};
  for (const Conversation& one : conversations_)
    conversations.push_back({{"number", one.number},
                             {"turns", one.turns},
                             {"tokens", one.tokens},
                             {"kept", one.kept},
                             {"at", one.at}});
  for (const ordered_json& line : lines_)
    requests.push_back(line);
  return {{"totals",
           {{"requests", totals_.requests},
            {"prompt", totals_.prompt},
            {"kept", totals_.kept},
            {"generated", totals_.generated}}},
          {"running", running},
          {"conversations", conversations},
          {"requests", requests}};
}

}  // namespace engine::lane
