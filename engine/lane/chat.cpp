#include "lane/chat.h"

#include <fmt/format.h>

#include <set>

#include "model/json_spacing.h"

namespace engine::lane {
namespace {

using nlohmann::ordered_json;

std::string read_parts(const JsonField& content) {
  std::string text;
  for (const JsonField& part : content.elements()) {
    if (const JsonField type = part.at("type"); type.string() != "text")
      type.fail(fmt::format("only parts of type \"text\" are read, not \"{}\"", type.string()));
    part.allow_only({"type", "text", "annotations", "cache_control", "logprobs"});
    text += part.at("text").string();
  }
  return text;
}

std::string read_content(const JsonField& message, bool required) {
  const std::optional<JsonField> content = message.find("content");
  if (!content) return required ? message.at("content").string() : std::string();
  if (content->value().is_array()) return read_parts(*content);
  if (!content->value().is_string()) content->fail_expected("a string or an array of text parts");
  return content->string();
}

// The same JSON with no character escaped that need not be: models write "é", and many a client
// sends "\u00e9". Numbers stay as they are. REQUIRES: valid JSON.
std::string with_plain_strings(std::string_view json) {
  std::string plain;
  for (std::size_t at = 0; at < json.size();) {
    std::size_t end = at + 1;
    if (json[at] == '"') {
      while (json[end] != '"')
        end += json[end] == '\\' ? 2 : 1;
      ++end;
    }
    const std::string_view piece = json.substr(at, end - at);
    plain += piece.size() == 1 ? std::string(piece) : to_text(ordered_json::parse(piece));
    at = end;
  }
  return plain;
}

// The arguments as prompts spell them; clients send "" for none.
std::string read_arguments(const JsonField& field) {
  const std::string text = field.string();
  if (text.empty()) return "{}";
  if (!ordered_json::parse(text, nullptr, false).is_object())
    field.fail_expected("the text of a JSON object");
  return model::spaced_json(with_plain_strings(text));
}

model::ToolCall read_call(const JsonField& call) {
  if (const auto type = call.find("type"); type && type->string() != "function")
    type->fail_expected("\"function\"");
  const JsonField function = call.at("function");
  call.allow_only({"id", "type", "function", "index"});
  function.allow_only({"name", "arguments"});
  return {call.at("id").string(), function.at("name").string(),
          read_arguments(function.at("arguments"))};
}

std::string read_reasoning(const JsonField& message) {
  for (const char* name : {"reasoning_content", "reasoning"}) {
    if (const auto field = message.find(name)) return field->string();
  }
  return {};
}

// Walks through the conversation and knows which calls still wait for an answer.
class MessageReader {
 public:
  model::Message read(const JsonField& field) {
    model::Message message = read_role(field);
    if (const auto name = field.find("name")) message.name = name->string();
    return message;
  }

 private:
  model::Message read_role(const JsonField& message) {
    const JsonField role = message.at("role");
    const std::string name = role.string();
    if (name == "assistant") {
      message.allow_only({"role", "content", "name", "tool_calls", "reasoning_content", "reasoning",
                          "annotations", "cache_control"});
    } else if (name == "tool") {
      message.allow_only({"role", "content", "name", "tool_call_id", "cache_control"});
    } else {
      message.allow_only({"role", "content", "name", "cache_control"});
    }
    if (name == "tool") return read_answer(message);
    waiting_.clear();
    if (name == "assistant") return read_assistant(message);
    if (name == "developer") return {"system", read_content(message, true)};
    if (name != "system" && name != "user")
      role.fail(
          fmt::format("role \"{}\" is none of system, developer, user, assistant, tool", name));
    return {name, read_content(message, true)};
  }

  model::Message read_answer(const JsonField& message) {
    const JsonField id = message.at("tool_call_id");
    const auto call = waiting_.find(id.string());
    if (call == waiting_.end())
      id.fail(
          fmt::format("\"{}\" answers no call of the assistant's message before it", id.string()));
    waiting_.erase(call);
    return {.role = "tool", .content = read_content(message, true), .answered_call = id.string()};
  }

  model::Message read_assistant(const JsonField& message) {
    const std::optional<JsonField> calls = message.find("tool_calls");
    model::Message result{.role = "assistant",
                          .content = read_content(message, !calls),
                          .reasoning = read_reasoning(message)};
    if (!calls) return result;
    for (const JsonField& field : calls->elements()) {
      result.calls.push_back(read_call(field));
      waiting_.insert(result.calls.back().id);
    }
    return result;
  }

  std::multiset<std::string> waiting_;  // ids of calls without an answer yet
};

}  // namespace

model::Conversation read_conversation(const JsonField& body) {
  MessageReader reader;
  model::Conversation result;
  const JsonField messages = body.at("messages");
  for (const JsonField& message : messages.elements())
    result.messages.push_back(reader.read(message));
  if (result.messages.empty()) messages.fail("at least one message is needed");
  if (const auto tools = body.find("tools"); tools && !tool_names(*tools).empty()) {
    ordered_json shown = tools->value();
    for (ordered_json& tool : shown)
      tool.erase("cache_control");  // says nothing to the model
    result.tools = to_text(shown);
  }
  if (const auto documents = body.find("documents"); documents && !documents->elements().empty())
    result.documents = to_text(documents->value());
  if (const auto variables = body.find("chat_template_kwargs")) {
    variables->require_object();
    if (!variables->value().empty()) result.variables = to_text(variables->value());
  }
  return result;
}

std::vector<std::string> tool_names(const JsonField& tools) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const JsonField& tool : tools.elements()) {
    if (const JsonField type = tool.at("type"); type.string() != "function")
      type.fail_expected("\"function\"");
    tool.allow_only({"type", "function", "cache_control"});
    tool.at("function").allow_only({"name", "description", "parameters", "strict", "return"});
    const JsonField field = tool.at("function").at("name");
    std::string name = field.string();
    if (name.empty()) field.fail("a tool's name is empty");
    if (!seen.insert(name).second)
      field.fail(fmt::format("another tool is named \"{}\", too", name));
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<model::Token> encode_conversation(const model::Model& model,
                                              const model::Conversation& conversation) {
  if (model.chat_template() == nullptr)
    throw ApiError(400, "this model has no chat template; use /v1/completions", "messages");
  try {
    return model.chat_template()->encode(model.tokenizer(), conversation);
  } catch (const model::ModelError& error) {
    throw ApiError(400, error.reason, "messages");
  }
}

}  // namespace engine::lane
