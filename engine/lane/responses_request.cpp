#include "lane/responses_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

namespace engine::lane {
namespace {

using nlohmann::ordered_json;

// Fields that a chat has, too, with the same meaning.
constexpr auto kShared = std::to_array<std::string_view>({"model",
                                                          "temperature",
                                                          "top_p",
                                                          "stream",
                                                          "top_k",
                                                          "min_p",
                                                          "seed",
                                                          "stop",
                                                          "stop_token_ids",
                                                          "logit_bias",
                                                          "metadata",
                                                          "user",
                                                          "presence_penalty",
                                                          "frequency_penalty",
                                                          "service_tier",
                                                          "repetition_penalty",
                                                          "prompt_cache_key",
                                                          "safety_identifier",
                                                          "parallel_tool_calls",
                                                          "prompt_cache_retention",
                                                          "chat_template_kwargs"});
// Read in their own words, or known to change nothing with these values.
constexpr auto kOwn =
    std::to_array<std::string_view>({"input", "instructions", "max_output_tokens", "tools",
                                     "tool_choice", "text", "reasoning", "stream_options"});
struct Only {
  std::string_view field;
  ordered_json value;
};

constexpr std::string_view kStateless = "this server stores no responses; send the whole input";

std::string text_of(const JsonField& content) {
  if (content.value().is_string()) return content.string();
  std::string text;
  for (const JsonField& part : content.elements()) {
    const JsonField type = part.at("type");
    if (type.string() != "input_text" && type.string() != "output_text" && type.string() != "text")
      type.fail(fmt::format("only parts that are text are read, not \"{}\"", type.string()));
    part.allow_only({"type", "text", "annotations", "logprobs"});
    text += part.at("text").string();
  }
  return text;
}

// Makes the body of a chat, and remembers whose place each of its parts takes.
class ChatBody {
 public:
  explicit ChatBody(const JsonField& body) : body_(body) {
    check_fields();
    read_messages();
    read_tools();
    read_format();
    if (const auto most = body.find("max_output_tokens")) {
      json_["max_completion_tokens"] = most->value();
      places_.emplace_back("max_completion_tokens", "max_output_tokens");
    }
    places_.emplace_back("messages", "input");
  }

  const ordered_json& json() const { return json_; }

  ApiError in_own_words(const ApiError& error) const {
    for (const auto& [place, own] : places_) {
      if (!error.param.starts_with(place)) continue;
      const std::string rest = error.param.substr(place.size());
      if (!rest.empty() && rest.front() != '.' && rest.front() != '[') continue;
      std::string message = error.what();
      if (message.starts_with(error.param)) message.replace(0, place.size(), own);
      return ApiError(error.status, message, own + rest, error.code);
    }
    return error;
  }

 private:
  void check_fields() {
    static const std::vector<Only> kOnly{{"store", false},
                                         {"background", false},
                                         {"truncation", "disabled"},
                                         {"include", ordered_json::array()}};
    body_.require_object();
    for (const auto& [name, value] : body_.value().items()) {
      if (value.is_null() || std::ranges::find(kOwn, name) != kOwn.end()) continue;
      if (std::ranges::find(kShared, name) != kShared.end()) {
        json_[name] = value;
        continue;
      }
      const JsonField field = body_.at(name);
      if (name == "previous_response_id" || name == "conversation") field.fail(kStateless);
      const auto known = std::ranges::find(kOnly, name, &Only::field);
      if (known == kOnly.end()) field.fail_unknown();
      if (known->value == value) continue;
      field.fail(name == "store" ? std::string(kStateless)
                                 : fmt::format("only {} is supported", to_text(known->value)));
    }
    if (const auto reasoning = body_.find("reasoning")) reasoning->allow_only({});
    if (const auto options = body_.find("stream_options"))
      options->allow_only({"include_obfuscation"});
  }

  void read_messages() {
    json_["messages"] = ordered_json::array();
    if (const auto said = body_.find("instructions"))
      add("instructions", {{"role", "system"}, {"content", said->string()}});
    const JsonField input = body_.at("input");
    if (input.value().is_string())
      return add("input", {{"role", "user"}, {"content", input.string()}});
    const std::vector<JsonField> items = input.elements();
    if (items.empty()) input.fail("at least one item is needed");
    for (const JsonField& item : items)
      read_item(item);
    if (!thoughts_.empty())
      items.back().fail("thoughts without what the assistant said after them");
  }

  void read_item(const JsonField& item) {
    const auto type = item.find("type");
    const std::string name = type ? type->string() : "message";
    if (name == "message") return read_message(item);
    if (name == "function_call") return read_call(item);
    if (name == "function_call_output") {
      item.allow_only({"type", "id", "status", "call_id", "output"});
      return add(item.place(), {{"role", "tool"},
                                {"tool_call_id", item.at("call_id").value()},
                                {"content", text_of(item.at("output"))}});
    }
    if (name != "reasoning")
      type->fail(fmt::format("items of type \"{}\" are not read here", name));
    item.allow_only({"type", "id", "status", "summary", "content"});
    if (const auto content = item.find("content")) {
      for (const JsonField& part : content->elements())
        thoughts_ += part.at("text").string();
    }
  }

  void read_message(const JsonField& item) {
    item.allow_only({"type", "id", "status", "role", "content", "phase"});
    ordered_json message{{"role", item.at("role").value()},
                         {"content", text_of(item.at("content"))}};
    think(message);
    add(item.place(), std::move(message));
  }

  // Calls belong to the assistant's message before them, if that is the last one.
  void read_call(const JsonField& item) {
    item.allow_only({"type", "id", "status", "call_id", "name", "arguments"});
    ordered_json& messages = json_["messages"];
    if (messages.empty() || messages.back()["role"] != "assistant" || !thoughts_.empty()) {
      ordered_json message{{"role", "assistant"}, {"content", nullptr}};
      think(message);
      add(item.place(), std::move(message));
    }
    ordered_json& message = messages.back();
    ordered_json& calls = message["tool_calls"];
    places_.emplace_front(
        fmt::format("messages[{}].tool_calls[{}].function", messages.size() - 1, calls.size()),
        item.place());
    calls.push_back(
        {{"id", item.at("call_id").string()},
         {"type", "function"},
         {"function",
          {{"name", item.at("name").string()}, {"arguments", item.at("arguments").string()}}}});
  }

  void think(ordered_json& message) {
    if (!thoughts_.empty() && message["role"] == "assistant")
      message["reasoning_content"] = std::exchange(thoughts_, {});
  }

  void add(const std::string& place, ordered_json message) {
    places_.emplace_back(fmt::format("messages[{}]", json_["messages"].size()), place);
    json_["messages"].push_back(std::move(message));
  }

  void read_tools() {
    if (const auto tools = body_.find("tools")) {
      json_["tools"] = ordered_json::array();
      for (const JsonField& tool : tools->elements())
        json_["tools"].push_back(read_tool(tool));
    }
    const auto choice = body_.find("tool_choice");
    if (!choice) return;
    json_["tool_choice"] = choice->value();
    if (!choice->value().is_object()) return;
    const ordered_json function = named_function(*choice, {"type", "name"});
    json_["tool_choice"] = {{"type", "function"}, {"function", function}};
    places_.emplace_back("tool_choice.function", "tool_choice");
  }

  ordered_json read_tool(const JsonField& tool) {
    const ordered_json function =
        named_function(tool, {"type", "name", "description", "parameters", "strict"});
    places_.emplace_back(fmt::format("tools[{}].function", json_["tools"].size()), tool.place());
    return {{"type", "function"}, {"function", function}};
  }

  // What a chat has in a member of its own.
  static ordered_json named_function(const JsonField& field,
                                     std::initializer_list<std::string_view> names) {
    if (const JsonField type = field.at("type"); type.string() != "function")
      type.fail(fmt::format("only functions can be called here, no \"{}\"", type.string()));
    field.allow_only(names);
    ordered_json function = ordered_json::object();
    for (const auto& [name, value] : field.value().items())
      if (name != "type" && !value.is_null()) function[name] = value;
    return function;
  }

  void read_format() {
    const auto text = body_.find("text");
    if (!text) return;
    text->allow_only({"format"});
    const auto format = text->find("format");
    if (!format) return;
    const JsonField type = format->at("type");
    json_["response_format"] = format->value();
    if (type.value() == "json_schema") {
      format->allow_only({"type", "name", "description", "schema", "strict"});
      ordered_json named = format->value();
      named.erase("type");
      json_["response_format"] = {{"type", "json_schema"}, {"json_schema", named}};
    }
    places_.emplace_back("response_format.json_schema", "text.format");
    places_.emplace_back("response_format", "text.format");
  }

  const JsonField& body_;
  ordered_json json_ = ordered_json::object();
  std::string thoughts_;  // that wait for what the assistant said after them
  std::deque<std::pair<std::string, std::string>> places_;
};

// What a response repeats of its request, with the defaults.
ordered_json repeated(const JsonField& body) {
  ordered_json shown{{"instructions", nullptr},
                     {"max_output_tokens", nullptr},
                     {"metadata", ordered_json::object()},
                     {"parallel_tool_calls", true},
                     {"temperature", 1},
                     {"text", {{"format", {{"type", "text"}}}}},
                     {"tool_choice", "auto"},
                     {"tools", ordered_json::array()},
                     {"top_p", 1},
                     {"user", nullptr}};
  for (auto& [name, value] : shown.items())
    if (const auto field = body.find(name)) value = field->value();
  for (ordered_json& tool : shown["tools"])
    for (const char* name : {"parameters", "strict"})
      if (!tool.contains(name)) tool[name] = nullptr;
  return shown;
}

}  // namespace

GenerationRequest read_response(const JsonField& body, const Served& served) {
  const ChatBody chat(body);
  try {
    GenerationRequest request = read_chat(JsonField(chat.json()), served);
    request.repeated = repeated(body);
    return request;
  } catch (const ApiError& error) {
    throw chat.in_own_words(error);
  }
}

}  // namespace engine::lane
