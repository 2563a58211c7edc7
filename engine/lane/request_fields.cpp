#include "lane/request_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace engine::lane {
namespace {

using nlohmann::ordered_json;

constexpr auto kCommon = std::to_array<std::string_view>({"frequency_penalty",
                                                          "ignore_eos",
                                                          "logit_bias",
                                                          "logprobs",
                                                          "max_tokens",
                                                          "min_p",
                                                          "min_tokens",
                                                          "model",
                                                          "n",
                                                          "presence_penalty",
                                                          "repeat_penalty",
                                                          "seed",
                                                          "repetition_penalty",
                                                          "stop",
                                                          "stop_token_ids",
                                                          "stream",
                                                          "stream_options",
                                                          "temperature",
                                                          "top_k",
                                                          "top_p"});
constexpr auto kOfChats = std::to_array<std::string_view>(
    {"add_generation_prompt", "chat_template_kwargs", "continue_final_message", "documents",
     "max_completion_tokens", "messages", "parallel_tool_calls", "response_format", "tool_choice",
     "tools", "top_logprobs"});
constexpr auto kOfCompletions = std::to_array<std::string_view>({"echo", "prompt"});
// They say who asks, or how a service is to be billed or tuned, never what the reply is.
constexpr auto kWithoutEffect = std::to_array<std::string_view>(
    {"cache_prompt", "metadata", "prediction", "priority", "prompt_cache_key",
     "prompt_cache_retention", "request_id", "safety_identifier", "service_tier", "store",
     "timings_per_token", "user"});

// Values that ask for what happens anyway.
struct Neutral {
  std::string_view field;
  ordered_json value;
};

const std::vector<Neutral>& neutral() {
  static const std::vector<Neutral> kNeutral{{"best_of", 1},
                                             {"echo", false},
                                             {"suffix", ""},
                                             {"response_format", {{"type", "text"}}},
                                             {"modalities", ordered_json::array({"text"})},
                                             {"skip_special_tokens", true},
                                             {"use_beam_search", false},
                                             {"typical_p", 1},
                                             {"length_penalty", 1},
                                             {"include_stop_str_in_output", false},
                                             {"return_token_ids", false}};
  return kNeutral;
}

// What other names are known by.
constexpr auto kInstead = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"functions", "use tools and tool_choice"},
     {"function_call", "use tools and tool_choice"},
     {"n_predict", "use max_tokens"},
     {"n_probs", "use logprobs"},
     {"max_new_tokens", "use max_tokens"},
     {"guided_json", "use response_format"},
     {"json_schema", "use response_format"},
     {"reasoning_effort", "use chat_template_kwargs, if the model's template reads it"}});

bool is_one_of(std::string_view field, std::span<const std::string_view> list) {
  return std::ranges::find(list, field) != list.end();
}

void refuse(const JsonField& field, std::string_view name) {
  for (const auto& [known, advice] : kInstead)
    if (name == known) field.fail(advice);
  for (const auto& [known, value] : neutral())
    if (name == known) field.fail(fmt::format("only {} is supported", to_text(value)));
  field.fail_unknown();
}

}  // namespace

void check_fields(const JsonField& body, Endpoint endpoint) {
  body.require_object();
  const std::span<const std::string_view> own =
      endpoint == Endpoint::kChat ? std::span<const std::string_view>(kOfChats) : kOfCompletions;
  for (const auto& [name, value] : body.value().items()) {
    if (value.is_null() || is_one_of(name, kCommon) || is_one_of(name, own) ||
        is_one_of(name, kWithoutEffect))
      continue;
    const bool is_neutral = std::ranges::any_of(neutral(), [&](const Neutral& known) {
      return known.field == name && known.value == value;
    });
    if (!is_neutral) refuse(body.at(name), name);
  }
}

}  // namespace engine::lane
