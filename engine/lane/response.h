// The JSON of replies: whole ones, and the chunks of streams.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lane/completion_logprobs.h"
#include "lane/rendering.h"
#include "lane/reply_reader.h"
#include "runtime/generate.h"

namespace engine::lane {

// Every statistic of the engine by name; an engine without the cache lacks some.
nlohmann::ordered_json stats_json(const runtime::Stats& stats);

// {"cache_n", "prompt_n", "prompt_ms", "prompt_per_second", "predicted_n", ..., "draft_n",
//  "draft_n_accepted", "reuse_bound", "first_difference", "rendering"}: rows kept and computed,
// tokens generated, what ended the reuse and where the prompt first differed from the one before;
// these are null on an engine without the cache. "rendering" is {"left_at": TOKEN, "left_by": WORD}
// where the prompt does not go on from the last turn's, see rendering.h, or null.
nlohmann::ordered_json timings_json(const runtime::Stats& stats,
                                    const std::optional<Departure>& departure = {});

// {"prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", ...}.
nlohmann::ordered_json usage_json(const runtime::Stats& stats, std::size_t completion_tokens,
                                  std::size_t reasoning_tokens = 0);

// Builds the objects of one request, or with `n` of one of its choices.
class ResponseWriter {
 public:
  ResponseWriter(const Served& served, const GenerationRequest& request, std::string id,
                 std::int64_t created, std::size_t index = 0);

  // A stream's first chunk, which only names the role; nothing for a completion.
  nlohmann::ordered_json opening() const;
  nlohmann::ordered_json chunk(const ReplyDelta& delta);
  // The last chunk with choices; with the reply's timings.
  nlohmann::ordered_json closing(std::string_view finish_reason, const runtime::Stats& stats,
                                 const std::optional<Departure>& departure = {});
  // The chunk without choices that include_usage asks for.
  nlohmann::ordered_json usage_chunk(const nlohmann::ordered_json& usage) const;

  // A whole reply; `reply` is all deltas joined.
  nlohmann::ordered_json whole(const ReplyDelta& reply, std::string_view finish_reason,
                               const runtime::Stats& stats, const nlohmann::ordered_json& usage,
                               const std::optional<Departure>& departure = {});

 private:
  nlohmann::ordered_json envelope(bool stream) const;
  nlohmann::ordered_json logprobs(const std::vector<TokenLogprob>& tokens);
  nlohmann::ordered_json chat_logprobs(const std::vector<TokenLogprob>& tokens) const;
  nlohmann::ordered_json calls(const std::vector<ToolCall>& calls, bool stream);

  const Served& served_;
  const GenerationRequest& request_;
  std::string id_;
  std::int64_t created_;
  std::size_t index_;      // of the choice
  std::size_t calls_ = 0;  // written so far, for their index
  CompletionLogprobs completion_logprobs_;
};

}  // namespace engine::lane
