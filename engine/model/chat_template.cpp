#include "model/chat_template.h"

#include <fmt/format.h>

#include "model/json_file.h"

namespace engine::model {
namespace {

constexpr std::size_t kMaxTemplateBytes = 1U << 20U;
constexpr std::size_t kMaxMessagesBytes = 64U << 20U;
constexpr std::size_t kMaxMessages = 100'000;

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

}  // namespace

ChatTemplate ChatTemplate::load(const std::filesystem::path& chat_template_json) {
  return parse(read_file(chat_template_json, kMaxTemplateBytes), chat_template_json);
}

ChatTemplate ChatTemplate::parse(std::string_view json, const std::filesystem::path& file) {
  const nlohmann::json parsed = parse_json(json, file);
  const JsonNode root(parsed, file);
  root.require_only({"begin", "roles", "generation_prompt"});
  ChatTemplate result;
  result.file_ = file;
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

std::vector<Segment> ChatTemplate::render(std::span<const Message> messages,
                                          bool add_generation_prompt) const {
  std::vector<Segment> segments;
  append(segments, begin_, true);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    const auto role = roles_.find(message.role);
    if (role == roles_.end()) {
      throw ModelError(
          file_, fmt::format("message {} has role \"{}\", which has no template", i, message.role));
    }
    std::string_view prefix = role->second.prefix;
    if (message.role == "assistant") {
      // Cut where the previous turn's rendering ended, so that its tokens are the same too.
      append(segments, generation_prompt_, true);
      prefix.remove_prefix(generation_prompt_.size());
    }
    append(segments, prefix, true);
    append_content(segments, message.content, role->second.content_tokens);
    append(segments, role->second.suffix, true);
  }
  if (add_generation_prompt) append(segments, generation_prompt_, true);
  return segments;
}

const std::vector<std::string>& ChatTemplate::reply_tokens() const {
  return roles_.find("assistant")->second.content_tokens;
}

std::vector<Token> encode_chat(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                               std::span<const Message> messages, bool add_generation_prompt) {
  std::vector<Token> tokens;
  for (const Segment& segment : chat_template.render(messages, add_generation_prompt)) {
    const auto special = segment.control ? SpecialText::kIsToken : SpecialText::kIsText;
    const std::vector<Token> part = tokenizer.encode(segment.text, special);
    tokens.insert(tokens.end(), part.begin(), part.end());
  }
  return tokens;
}

std::vector<Message> parse_messages(std::string_view json, const std::filesystem::path& source) {
  if (json.size() > kMaxMessagesBytes) {
    throw ModelError(source,
                     fmt::format("{} bytes; at most {} are read", json.size(), kMaxMessagesBytes));
  }
  const nlohmann::json parsed = parse_json(json, source);
  const JsonNode list(parsed, source);
  const std::size_t count = list.require_array();
  if (count == 0 || count > kMaxMessages) {
    list.fail(fmt::format("{} messages; expected 1 to {}", count, kMaxMessages));
  }
  std::vector<Message> messages;
  for (std::size_t i = 0; i < count; ++i) {
    const JsonNode message = list.element(i);
    message.require_only({"role", "content"});
    messages.push_back({message.at("role").string(), message.at("content").string()});
  }
  return messages;
}

}  // namespace engine::model
