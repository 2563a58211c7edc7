#include "model/chat_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/json_file.h"
#include "model/json_spacing.h"

namespace engine::model {
namespace {

constexpr std::size_t kMaxTemplateBytes = 1U << 20U;

using nlohmann::ordered_json;

void append(std::vector<Segment>& segments, std::string_view text, bool control) {
  if (!text.empty()) segments.push_back({std::string(text), control});
}

std::vector<std::string> read_content_tokens(const JsonNode& role) {
  std::vector<std::string> tokens;
  const std::optional<JsonNode> list = role.find("content_tokens");
  if (!list) return tokens;
  const std::size_t count = list->require_array();
  for (std::size_t i = 0; i < count; ++i) {
    tokens.push_back(list->element(i).string());
    if (tokens.back().empty()) list->element(i).fail_expected("a token's text");
  }
  return tokens;
}

// Cuts the content at its role's tokens; of two that begin at one place the longer counts.
void append_content(std::vector<Segment>& segments, std::string_view content,
                    std::span<const std::string> tokens) {
  while (true) {
    std::size_t first = std::string_view::npos;
    std::string_view found;
    for (const std::string& token : tokens) {
      const std::size_t at = content.find(token);
      if (at < first || (at == first && token.size() > found.size())) {
        first = at;
        found = token;
      }
    }
    if (first == std::string_view::npos) break;
    append(segments, content.substr(0, first), false);
    append(segments, found, true);
    content.remove_prefix(first + found.size());
  }
  append(segments, content, false);
}

std::string dump(const ordered_json& value) {
  return spaced_json(value.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

// The argument of each name, by type or by its whole schema.
ordered_json arguments_of(const ordered_json& function) {
  ordered_json arguments = ordered_json::object();
  const ordered_json properties =
      function.value("/parameters/properties"_json_pointer, ordered_json::object());
  for (const auto& [name, property] : properties.items()) {
    const bool only_type =
        property.is_object() && property.size() == 1 && property.contains("type");
    arguments[name] = only_type ? property["type"] : property;
  }
  return arguments;
}

std::string tool_lines(std::string_view tools) {
  std::string text = "Tools:";
  for (const ordered_json& tool : ordered_json::parse(tools)) {
    const ordered_json& function = tool.at("function");
    ordered_json line{{"name", function.at("name")}};
    if (function.contains("description") && !function["description"].is_null())
      line["description"] = function["description"];
    line["arguments"] = arguments_of(function);
    text += '\n';
    text += dump(line);
  }
  return text;
}

std::vector<Message> with_tools(const Conversation& conversation,
                                const std::filesystem::path& file) {
  std::vector<Message> messages = conversation.messages;
  if (conversation.tools.empty()) return messages;
  std::string lines;
  try {
    lines = tool_lines(conversation.tools);
  } catch (const ordered_json::exception& error) {
    throw ModelError(file, fmt::format("the tools cannot be told: {}", error.what()));
  }
  const auto system = std::ranges::find(messages, "system", &Message::role);
  if (system == messages.end()) {
    messages.insert(messages.begin(), {"system", lines});
  } else {
    system->content += "\n" + lines;
  }
  return messages;
}

void append_call(std::vector<Segment>& segments, const ToolCall& call, const CallMarks& marks) {
  append(segments, marks.begin, true);
  append(segments,
         fmt::format(R"({}{{"name": {}, "arguments": {}}}{})", marks.after_begin, dump(call.name),
                     call.arguments, marks.before_end),
         false);
  append(segments, marks.end, true);
}

}  // namespace

std::optional<CallMarks> CallMarks::of(const Tokenizer& tokenizer) {
  if (tokenizer.find("<|tool_call|>")) return CallMarks{"<|tool_call|>", "", "", ""};
  if (tokenizer.find("<tool_call>")) return CallMarks{"<tool_call>", "\n", "\n", "</tool_call>"};
  return std::nullopt;
}

ChatFormat ChatFormat::load(const std::filesystem::path& chat_format_json) {
  return parse(read_file(chat_format_json, kMaxTemplateBytes), chat_format_json);
}

ChatFormat ChatFormat::parse(std::string_view json, const std::filesystem::path& file) {
  const nlohmann::json parsed = parse_json(json, file);
  const JsonNode root(parsed, file);
  root.require_only({"begin", "roles", "generation_prompt"});
  ChatFormat result;
  result.file_ = file;
  result.source_ = json;
  result.begin_ = root.at("begin").string();
  result.generation_prompt_ = root.at("generation_prompt").string();
  const JsonNode roles = root.at("roles");
  roles.require_object();
  for (const auto& [name, unused] : roles.value().items()) {
    const JsonNode role = roles.at(name);
    role.require_only({"prefix", "suffix", "content_tokens"});
    result.roles_[name] = {role.at("prefix").string(), role.at("suffix").string(),
                           read_content_tokens(role)};
  }
  const JsonNode prefix = roles.at("assistant").at("prefix");
  if (!result.roles_["assistant"].prefix.starts_with(result.generation_prompt_)) {
    prefix.fail_expected(
        fmt::format("a text that begins with generation_prompt \"{}\"", result.generation_prompt_));
  }
  return result;
}

std::vector<Segment> ChatFormat::render(const Conversation& conversation,
                                        const std::optional<CallMarks>& marks) const {
  if (!conversation.variables.empty() || !conversation.documents.empty())
    throw ModelError(file_, "this chat format has no variables and no documents");
  const std::vector<Message> messages = with_tools(conversation, file_);
  std::vector<Segment> segments;
  append(segments, begin_, true);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!roles_.contains(messages[i].role)) {
      throw ModelError(file_, fmt::format("message {} has role \"{}\", which has no template", i,
                                          messages[i].role));
    }
    append_message(segments, messages[i], marks);
  }
  if (conversation.add_generation_prompt) append(segments, generation_prompt_, true);
  return segments;
}

void ChatFormat::append_message(std::vector<Segment>& segments, const Message& message,
                                const std::optional<CallMarks>& marks) const {
  const Role& role = roles_.find(message.role)->second;
  std::string_view prefix = role.prefix;
  if (message.role == "assistant") {
    // Cut where the previous turn's rendering ended, so that its tokens are the same too.
    append(segments, generation_prompt_, true);
    prefix.remove_prefix(generation_prompt_.size());
  }
  append(segments, prefix, true);
  append_content(
      segments, message.content,
      message.verbatim ? std::span(role.content_tokens) : std::span<const std::string>());
  if (!message.calls.empty() && !marks)
    throw ModelError(file_, "this model has no notation for tool calls");
  for (const ToolCall& call : message.calls)
    append_call(segments, call, *marks);
  append(segments, role.suffix, true);
}

std::vector<std::string> ChatFormat::reply_tokens() const {
  return roles_.find("assistant")->second.content_tokens;
}

std::vector<Token> ChatFormat::encode(const Tokenizer& tokenizer,
                                      const Conversation& conversation) const {
  std::vector<Token> tokens;
  for (const Segment& segment : render(conversation, CallMarks::of(tokenizer))) {
    const auto special = segment.control ? SpecialText::kIsToken : SpecialText::kIsText;
    const std::vector<Token> part = tokenizer.encode(segment.text, special);
    tokens.insert(tokens.end(), part.begin(), part.end());
  }
  return tokens;
}

}  // namespace engine::model
