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

ordered_json stats_json(const runtime::Stats& stats) {
  ordered_json json;
  runtime::for_each_stat(stats, [&](std::string_view stat, runtime::StatValue value) {
    std::visit([&](const auto& v) { json[std::string(stat)] = v; }, value);
  });
  return json;
}

ordered_json timings_json(const runtime::Stats& stats, const std::optional<Departure>& departure) {
  ordered_json rendering;
  if (departure) rendering = {{"left_at", departure->token}, {"left_by", departure->by}};
  const ordered_json all = stats_json(stats);
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
          {"rendering", rendering}};
}

ordered_json usage_json(const runtime::Stats& stats, std::size_t completion_tokens,
                        std::size_t reasoning_tokens) {
  const std::size_t cached = stats_json(stats).value("cached", std::size_t{0});
  return {{"prompt_tokens", stats.prompt_tokens},
          {"completion_tokens", completion_tokens},
          {"total_tokens", stats.prompt_tokens + completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", cached}, {"audio_tokens", 0}}},
          {"completion_tokens_details",
           {{"reasoning_tokens", reasoning_tokens},
            {"audio_tokens", 0},
            {"accepted_prediction_tokens", 0},
            {"rejected_prediction_tokens", 0}}}};
}

ResponseWriter::ResponseWriter(const Served& served, const GenerationRequest& request,
                               std::string id, std::int64_t created, std::size_t index)
    : served_(served),
      request_(request),
      id_(std::move(id)),
      created_(created),
      index_(index),
      completion_logprobs_(served, request) {}

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

ordered_json ResponseWriter::opening() const {
  ordered_json json = envelope(true);
  const ordered_json choice{
      {"index", index_},
      {"delta", {{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}}},
      {"logprobs", nullptr},
      {"finish_reason", nullptr}};
  json["choices"] = ordered_json::array({choice});
  return json;
}

ordered_json ResponseWriter::chunk(const ReplyDelta& delta) {
  ordered_json json = envelope(true), choice{{"index", index_}};
  if (request_.chat) {
    choice["delta"] = ordered_json::object();
    if (!delta.reasoning.empty()) choice["delta"]["reasoning_content"] = delta.reasoning;
    if (!delta.text.empty() || (delta.calls.empty() && delta.reasoning.empty()))
      choice["delta"]["content"] = delta.text;
    if (!delta.calls.empty()) choice["delta"]["tool_calls"] = calls(delta.calls, true);
  } else {
    choice["text"] = delta.text;
  }
  choice["logprobs"] = logprobs(delta.logprobs);
  choice["finish_reason"] = nullptr;
  json["choices"] = ordered_json::array({choice});
  return json;
}

ordered_json ResponseWriter::closing(std::string_view finish_reason, const runtime::Stats& stats,
                                     const std::optional<Departure>& departure) {
  ordered_json json = envelope(true), choice{{"index", index_}};
  if (request_.chat) {
    choice["delta"] = ordered_json::object();
  } else {
    choice["text"] = "";
  }
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = finish_reason;
  json["choices"] = ordered_json::array({choice});
  json["timings"] = timings_json(stats, departure);
  return json;
}

ordered_json ResponseWriter::usage_chunk(const ordered_json& usage) const {
  ordered_json json = envelope(true);
  json["choices"] = ordered_json::array();
  json["usage"] = usage;
  return json;
}

ordered_json ResponseWriter::whole(const ReplyDelta& reply, std::string_view finish_reason,
                                   const runtime::Stats& stats, const ordered_json& usage,
                                   const std::optional<Departure>& departure) {
  ordered_json json = envelope(false), choice{{"index", index_}};
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
  choice["finish_reason"] = finish_reason;
  json["choices"] = ordered_json::array({choice});
  json["usage"] = usage;
  json["timings"] = timings_json(stats, departure);
  return json;
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
  return request_.chat ? chat_logprobs(tokens) : completion_logprobs_.json(tokens);
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
