#include "lane/chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace engine::lane {
namespace {

std::string read_parts(const JsonField& content) {
  std::string text;
  for (const JsonField& part : content.elements()) {
    if (const JsonField type = part.at("type"); type.string() != "text")
      type.fail(fmt::format("only parts of type \"text\" are read, not \"{}\"", type.string()));
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

ToolCall read_call(const JsonField& call) {
  if (const auto type = call.find("type"); type && type->string() != "function")
    type->fail_expected("\"function\"");
  const JsonField function = call.at("function");
  return {call.at("id").string(), function.at("name").string(), function.at("arguments").string()};
}

// Walks through the conversation and knows which calls still wait for an answer.
class MessageReader {
 public:
  explicit MessageReader(const std::optional<ToolFormat>& format) : format_(format) {}

  model::Message read(const JsonField& message) {
    const JsonField role = message.at("role");
    const std::string name = role.string();
    if (name == "tool") return read_answer(message);
    waiting_.clear();
    if (name == "assistant") return read_assistant(message);
    if (name == "developer") return {"system", read_content(message, true)};
    if (name != "system" && name != "user")
      role.fail(
          fmt::format("role \"{}\" is none of system, developer, user, assistant, tool", name));
    return {name, read_content(message, true)};
  }

 private:
  model::Message read_answer(const JsonField& message) {
    const JsonField id = message.at("tool_call_id");
    const auto call = waiting_.find(id.string());
    if (call == waiting_.end())
      id.fail(
          fmt::format("\"{}\" answers no call of the assistant's message before it", id.string()));
    waiting_.erase(call);
    return {"tool", read_content(message, true)};
  }

  model::Message read_assistant(const JsonField& message) {
    const std::optional<JsonField> calls = message.find("tool_calls");
    std::string text = read_content(message, !calls);
    if (!calls) return {"assistant", std::move(text)};
    if (!format_) calls->fail("this model has no notation for tool calls");
    for (const JsonField& field : calls->elements()) {
      const ToolCall call = read_call(field);
      waiting_.insert(call.id);
      text += format_->render(call);
    }
    return {"assistant", std::move(text)};
  }

  const std::optional<ToolFormat>& format_;
  std::multiset<std::string> waiting_;  // ids of calls without an answer yet
};

}  // namespace

std::vector<model::Message> read_messages(const JsonField& messages,
                                          const std::optional<ToolFormat>& format) {
  MessageReader reader(format);
  std::vector<model::Message> result;
  for (const JsonField& message : messages.elements())
    result.push_back(reader.read(message));
  if (result.empty()) messages.fail("at least one message is needed");
  return result;
}

void add_tools(std::vector<model::Message>& messages, const JsonField& tools) {
  const std::string text = "Tools:\n" + tool_lines(tools);
  const auto system = std::ranges::find(messages, "system", &model::Message::role);
  if (system == messages.end()) {
    messages.insert(messages.begin(), {"system", text});
  } else {
    system->content += "\n" + text;
  }
}

std::vector<model::Token> encode_messages(const model::Model& model,
                                          std::span<const model::Message> messages) {
  if (model.chat_template() == nullptr)
    throw ApiError(400, "this model has no chat template; use /v1/completions", "messages");
  try {
    return model::encode_chat(model.tokenizer(), *model.chat_template(), messages, true);
  } catch (const model::ModelError& error) {
    throw ApiError(400, error.what(), "messages");
  }
}

}  // namespace engine::lane
