// The JSON of replies: whole ones, and the chunks of streams.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lane/completion_logprobs.h"
#include "lane/reply_writer.h"

namespace engine::lane {

// Every statistic of the engine by name; an engine without the cache lacks some.
nlohmann::ordered_json stats_json(const runtime::Stats& stats);

// {"cache_n", "prompt_n", "prompt_ms", "prompt_per_second", "predicted_n", ..., "draft_n",
//  "draft_n_accepted", "reuse_bound", "first_difference", "rounded_off", "smaller_grids",
//  "rendering"}: rows kept and computed, tokens generated, what ended the reuse, where the prompt
// first differed from the one before, how many rows were there and computed again because they do
// not fill a cell of the grid, and how many rows each smaller grid would have kept ({"64": ROWS,
// ...}); these are null on an engine without the cache. "rendering" is {"left_at": TOKEN,
// "left_by": WORD} where the prompt does not go on from the last turn's, see rendering.h, or null.
nlohmann::ordered_json timings_json(const Outcome& outcome, std::size_t grid);

// One event of a stream.
std::string event_text(const nlohmann::ordered_json& json);

// Of all choices of a request: the prompt counts once, as the first one found it.
struct Usage {
  std::size_t prompt = 0, cached = 0, completion = 0, reasoning = 0;
};
Usage usage_of(std::span<const Outcome> choices);

// {"prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", ...}.
nlohmann::ordered_json usage_json(const Usage& usage);

// Of chats and completions.
class ResponseWriter final : public ReplyWriter {
 public:
  // `served` and `request` must outlive it.
  ResponseWriter(const Served& served, const GenerationRequest& request, std::string id,
                 std::int64_t created);

  // A chat's first chunk only names the role.
  std::string begin(std::size_t choice) override;
  std::string add(const ReplyDelta& delta) override;
  // The last chunk of the choice, with the reply's timings.
  std::string end(const Outcome& outcome) override;
  // The chunk without choices that include_usage asks for, and the end.
  std::string close(std::span<const Outcome> choices) override;
  std::string fail(const ApiError& error) override;

  nlohmann::ordered_json whole(std::span<const Outcome> choices) override;

 private:
  std::string chunk(const nlohmann::ordered_json& said, const nlohmann::ordered_json& logprobs,
                    const Outcome* ended = nullptr);
  nlohmann::ordered_json envelope(bool stream) const;
  nlohmann::ordered_json whole_choice(const Outcome& outcome);
  nlohmann::ordered_json logprobs(const std::vector<TokenLogprob>& tokens);
  nlohmann::ordered_json chat_logprobs(const std::vector<TokenLogprob>& tokens) const;
  nlohmann::ordered_json calls(const std::vector<ToolCall>& calls, bool stream);
  void start(std::size_t choice);

  const Served& served_;
  const GenerationRequest& request_;
  std::string id_;
  std::int64_t created_;
  std::size_t index_ = 0;  // of the choice
  std::size_t calls_ = 0;  // written so far, for their index
  std::optional<CompletionLogprobs> completion_logprobs_;
};

}  // namespace engine::lane
