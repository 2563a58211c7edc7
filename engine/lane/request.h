// What a client asks for, checked: /v1/chat/completions and /v1/completions in OpenAI's fields.
// Fields and values that cannot be honoured are refused, since a reply that silently disregards
// them would be wrong: see request_fields.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lane/constraint.h"
#include "lane/json_field.h"
#include "lane/tool_format.h"
#include "model/model.h"
#include "runtime/engine.h"

namespace engine::lane {

// What requests are read against.
struct Served {
  const model::Model& model;
  std::string name;         // as /v1/models lists it
  std::size_t context = 0;  // KV rows: prompt and reply together
  std::size_t grid = 0;     // prompt_rows
  std::optional<ToolFormat> format;
  runtime::GenerateParams defaults;  // drafting and acceptance, which no request chooses
  std::optional<ThoughtMarks> thoughts{};
  std::vector<std::string> aliases{};              // other names that requests may give
  std::shared_ptr<const Vocabulary> vocabulary{};  // of `model`; made for each request if empty
};

struct GenerationRequest {  // NOLINT(bugprone-exception-escape): no move of a member throws
  bool chat = false;
  runtime::Request engine;        // the prompt and how to continue it
  std::vector<std::string> stop;  // texts that end the reply, not part of it
  std::size_t choices = 1;        // replies; each has a seed of its own
  bool echo = false;              // a completion begins with its prompt
  bool stream = false;
  bool include_usage = false;               // in the stream's last chunk
  std::optional<std::size_t> top_logprobs;  // alternatives a token; nothing: no log-probabilities
  model::Conversation conversation;         // of a chat
  bool thinking = false;                    // the prompt already begins the model's thoughts
  bool tools = false;                       // calls are looked for in the reply
  nlohmann::ordered_json tool_list;         // the tools of the request
  bool one_call = false;                    // the reply ends with its first call
  // With tool_choice the prompt already begins a call: its text after the mark.
  std::optional<std::string> begun_call;
  nlohmann::ordered_json repeated;  // of /v1/responses: what the response shows of the request
};

// Throws ApiError: 400, or 404 for another model's name.
GenerationRequest read_chat(const JsonField& body, const Served& served);
GenerationRequest read_completion(const JsonField& body, const Served& served);

// Throws ApiError 404 for another model's name.
void check_model(std::string_view name, const Served& served);

// The tokens of a field that is text, in which special tokens count, or an array of token ids.
std::vector<model::Token> read_tokens(const JsonField& field, const Served& served);

}  // namespace engine::lane
