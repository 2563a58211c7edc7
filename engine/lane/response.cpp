#include "lane/response.h"

#include "runtime/stats.h"

namespace engine::lane {
namespace {

using nlohmann::ordered_json;

double per_second(std::size_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

ordered_json bytes_json(std::string_view bytes) {
  ordered_json list = ordered_json::array();
  for (const char byte : bytes)
    list.push_back(static_cast<unsigned char>(byte));
  return list;
}

}  // namespace

std::string event_text(const ordered_json& json) {
  return "data: " + to_text(json) + "\n\n";
}

ordered_json stats_json(const runtime::Stats& stats) {
  ordered_json json;
  runtime::for_each_stat(stats, [&](std::string_view stat, runtime::StatValue value) {
    std::visit([&](const auto& v) { json[std::string(stat)] = v; }, value);
  });
  return json;
}

ordered_json timings_json(const Outcome& outcome, std::size_t grid) {
  const runtime::Stats& stats = outcome.stats;
  ordered_json rendering, rounded_off, smaller;
  if (const auto& departure = outcome.departure)
    rendering = {{"left_at", departure->token}, {"left_by", departure->by}};
  const ordered_json all = stats_json(stats);
  if (const auto& keepable = outcome.keepable) {
    rounded_off = *keepable - all.value("cached", std::size_t{0});
    for (const std::size_t rows : {16U, 32U, 64U, 128U, 256U, 512U, 1024U})
      if (rows < grid) smaller[std::to_string(rows)] = *keepable / rows * rows;
  }
  // The first token comes from the prompt's last row, so prefill pays for it.
  const std::size_t decoded = stats.generated_tokens > 0 ? stats.generated_tokens - 1 : 0;
  return {{"cache_n", all.value("cached", std::size_t{0})},
          {"prompt_n", stats.prefill_rows},
          {"prompt_ms", stats.prefill_seconds * 1e3},
          {"prompt_per_second", per_second(stats.prefill_rows, stats.prefill_seconds)},
          {"predicted_n", stats.generated_tokens},
          {"predicted_ms", stats.decode_seconds * 1e3},
          {"predicted_per_second", per_second(decoded, stats.decode_seconds)},
          {"draft_n", stats.drafted},
          {"draft_n_accepted", stats.accepted},
          {"reuse_bound", all.value("reuse_bound", ordered_json())},
          {"first_difference", all.value("common_prefix", ordered_json())},
          {"rounded_off", rounded_off},
          {"smaller_grids", smaller},
          {"rendering", rendering}};
}

Usage usage_of(std::span<const Outcome> choices) {
  Usage usage;
  if (choices.empty()) return usage;
  usage.prompt = choices.front().stats.prompt_tokens;
  usage.cached = stats_json(choices.front().stats).value("cached", std::size_t{0});
  for (const Outcome& choice : choices) {
    usage.completion += choice.completion_tokens;
    usage.reasoning += choice.reasoning_tokens;
  }
  return usage;
}

ordered_json usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt},
          {"completion_tokens", usage.completion},
          {"total_tokens", usage.prompt + usage.completion},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached}, {"audio_tokens", 0}}},
          {"completion_tokens_details",
           {{"reasoning_tokens", usage.reasoning},
            {"audio_tokens", 0},
            {"accepted_prediction_tokens", 0},
            {"rejected_prediction_tokens", 0}}}};
}

ResponseWriter::ResponseWriter(const Served& served, const GenerationRequest& request,
                               std::string id, std::int64_t created)
    : served_(served), request_(request), id_(std::move(id)), created_(created) {
  start(0);
}

void ResponseWriter::start(std::size_t choice) {
  index_ = choice;
  calls_ = 0;
  completion_logprobs_.emplace(served_, request_);
}

ordered_json ResponseWriter::envelope(bool stream) const {
  const char* object = !request_.chat ? "text_completion"
                       : stream       ? "chat.completion.chunk"
                                      : "chat.completion";
  ordered_json json{{"id", id_},
                    {"object", object},
                    {"created", created_},
                    {"model", served_.name},
                    {"system_fingerprint", nullptr}};
  if (request_.chat) json["service_tier"] = nullptr;
  // Every chunk has the field, as OpenAI's do; only the last one has a value.
  if (stream && request_.include_usage) json["usage"] = nullptr;
  return json;
}

std::string ResponseWriter::chunk(const ordered_json& said, const ordered_json& logprobs,
                                  const Outcome* ended) {
  ordered_json json = envelope(true), choice{{"index", index_}};
  choice[request_.chat ? "delta" : "text"] = said;
  choice["logprobs"] = logprobs;
  choice["finish_reason"] =
      ended != nullptr ? ordered_json(word_of(ended->finish)) : ordered_json();
  json["choices"] = ordered_json::array({choice});
  if (ended != nullptr) json["timings"] = timings_json(*ended, served_.grid);
  return event_text(json);
}

std::string ResponseWriter::begin(std::size_t choice) {
  start(choice);
  if (!request_.chat) return {};
  return chunk({{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}}, nullptr);
}

std::string ResponseWriter::add(const ReplyDelta& delta) {
  const ordered_json shown = logprobs(delta.logprobs);
  if (!request_.chat) return chunk(delta.text, shown);
  ordered_json said = ordered_json::object();
  if (!delta.reasoning.empty()) said["reasoning_content"] = delta.reasoning;
  if (!delta.text.empty() || (delta.calls.empty() && delta.reasoning.empty()))
    said["content"] = delta.text;
  if (!delta.calls.empty()) said["tool_calls"] = calls(delta.calls, true);
  return chunk(said, shown);
}

std::string ResponseWriter::end(const Outcome& outcome) {
  return chunk(request_.chat ? ordered_json::object() : ordered_json(""), nullptr, &outcome);
}

std::string ResponseWriter::close(std::span<const Outcome> choices) {
  std::string text;
  if (request_.include_usage) {
    ordered_json json = envelope(true);
    json["choices"] = ordered_json::array();
    json["usage"] = usage_json(usage_of(choices));
    text = event_text(json);
  }
  return text + "data: [DONE]\n\n";
}

std::string ResponseWriter::fail(const ApiError& error) {
  return event_text(error.body());
}

ordered_json ResponseWriter::whole(std::span<const Outcome> choices) {
  ordered_json json = envelope(false), list = ordered_json::array();
  for (const Outcome& outcome : choices) {
    start(list.size());
    list.push_back(whole_choice(outcome));
  }
  json["choices"] = list;
  json["usage"] = usage_json(usage_of(choices));
  json["timings"] = timings_json(choices.front(), served_.grid);
  return json;
}

ordered_json ResponseWriter::whole_choice(const Outcome& outcome) {
  const ReplyDelta& reply = outcome.reply;
  ordered_json choice{{"index", index_}};
  if (request_.chat) {
    choice["message"] = {{"role", "assistant"},
                         {"content", reply.text},
                         {"refusal", nullptr},
                         {"annotations", ordered_json::array()}};
    if (!reply.reasoning.empty()) choice["message"]["reasoning_content"] = reply.reasoning;
    if (!reply.calls.empty()) {
      if (reply.text.empty()) choice["message"]["content"] = nullptr;
      choice["message"]["tool_calls"] = calls(reply.calls, false);
    }
  } else {
    choice["text"] = reply.text;
  }
  choice["logprobs"] = logprobs(reply.logprobs);
  choice["finish_reason"] = word_of(outcome.finish);
  return choice;
}

ordered_json ResponseWriter::calls(const std::vector<ToolCall>& list, bool stream) {
  ordered_json json = ordered_json::array();
  for (const ToolCall& call : list) {
    ordered_json entry;
    if (stream) entry["index"] = calls_++;
    entry["id"] = call.id;
    entry["type"] = "function";
    entry["function"] = {{"name", call.name}, {"arguments", call.arguments}};
    json.push_back(entry);
  }
  return json;
}

ordered_json ResponseWriter::logprobs(const std::vector<TokenLogprob>& tokens) {
  if (!request_.top_logprobs) return nullptr;
  return request_.chat ? chat_logprobs(tokens) : completion_logprobs_->json(tokens);
}

ordered_json ResponseWriter::chat_logprobs(const std::vector<TokenLogprob>& tokens) const {
  const auto entry = [&](model::Token token, double logprob) {
    const std::string_view bytes = served_.model.tokenizer().decode(token);
    return ordered_json{{"token", bytes}, {"logprob", logprob}, {"bytes", bytes_json(bytes)}};
  };
  ordered_json content = ordered_json::array();
  for (const TokenLogprob& token : tokens) {
    ordered_json json = entry(token.token, token.logprob), top = ordered_json::array();
    for (const auto& [other, logprob] : token.top)
      top.push_back(entry(other, logprob));
    json["top_logprobs"] = top;
    content.push_back(json);
  }
  return {{"content", content}, {"refusal", nullptr}};
}

}  // namespace engine::lane
