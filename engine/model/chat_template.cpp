#include "model/chat_template.h"

#include <fmt/format.h>

#include "model/chat_format.h"
#include "model/jinja_template.h"
#include "model/json_file.h"

namespace engine::model {
namespace {

constexpr std::size_t kMaxMessagesBytes = 64U << 20U;
constexpr std::size_t kMaxMessages = 100'000;

}  // namespace

std::unique_ptr<const ChatTemplate> load_chat_template(const std::filesystem::path& dir,
                                                       const Tokenizer& tokenizer) {
  const std::filesystem::path own = dir / "chat_format.json";
  if (std::filesystem::exists(own)) return std::make_unique<ChatFormat>(ChatFormat::load(own));
  std::optional<JinjaSources> sources = find_jinja_sources(dir);
  if (!sources) return nullptr;
  return std::make_unique<JinjaTemplate>(*std::move(sources), tokenizer.marks());
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
    messages.back().verbatim = messages.back().role == "assistant";
  }
  return messages;
}

}  // namespace engine::model
