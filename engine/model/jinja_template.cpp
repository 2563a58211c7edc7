#include "model/jinja_template.h"

#include <fmt/format.h>

#include "model/json_file.h"

namespace engine::model {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMaxTemplateBytes = 1U << 20U;
constexpr std::size_t kMaxConfigBytes = 64U << 20U;

std::string dump(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// "chat_template": a text, or [{"name", "template"}].
void read_named(const JsonNode& node, JinjaSources& sources) {
  if (node.value().is_string()) {
    sources.templates["default"] = node.string();
    return;
  }
  const std::size_t count = node.require_array();
  for (std::size_t i = 0; i < count; ++i) {
    const JsonNode entry = node.element(i);
    sources.templates[entry.at("name").string()] = entry.at("template").string();
  }
  if (!sources.templates.contains("default")) node.fail("no template is named \"default\"");
}

// The templates of a JSON file's "chat_template"; false if it has none.
bool read_from_json(const fs::path& file, JinjaSources& sources) {
  if (!fs::exists(file)) return false;
  const json parsed = parse_json(read_file(file, kMaxConfigBytes), file);
  const JsonNode root(parsed, file);
  if (file.filename() == "chat_template.json" && root.find("roles"))
    throw ModelError(file,
                     "this is the engine's own form of a chat template, whose name is "
                     "chat_format.json now; rename the file");
  const std::optional<JsonNode> node = root.find("chat_template");
  if (!node) return false;
  sources.file = file;
  read_named(*node, sources);
  return true;
}

bool read_from_files(const fs::path& dir, JinjaSources& sources) {
  const fs::path file = dir / "chat_template.jinja";
  if (!fs::exists(file)) return false;
  sources.file = file;
  sources.templates["default"] = read_file(file, kMaxTemplateBytes);
  const fs::path others = dir / "additional_chat_templates";
  if (!fs::is_directory(others)) return true;
  for (const fs::directory_entry& entry : fs::directory_iterator(others)) {
    if (entry.path().extension() == ".jinja")
      sources.templates[entry.path().stem().string()] = read_file(entry.path(), kMaxTemplateBytes);
  }
  return true;
}

// A special token is a text, or an object with its text.
json token_text(const json& token) {
  if (token.is_object() && token.contains("content")) return token["content"];
  if (!token.is_array()) return token;
  json list = json::array();
  for (const json& element : token)
    list.push_back(token_text(element));
  return list;
}

// The special tokens by name; of the two files tokenizer_config.json counts first.
std::string read_variables(const fs::path& dir) {
  json variables = json::object();
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    const fs::path file = dir / name;
    if (!fs::exists(file)) continue;
    const json parsed = parse_json(read_file(file, kMaxConfigBytes), file);
    for (const char* token : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                              "cls_token", "mask_token", "additional_special_tokens"}) {
      if (parsed.is_object() && parsed.contains(token) && !variables.contains(token))
        variables[token] = token_text(parsed[token]);
    }
  }
  std::erase_if(variables.get_ref<json::object_t&>(),
                [](const auto& variable) { return variable.second.is_null(); });
  return variables.dump();
}

// In the fields of OpenAI's messages, as templates expect them.
ordered_json message_json(const Message& message) {
  ordered_json object{{"role", message.role}};
  if (!message.name.empty()) object["name"] = message.name;
  if (!message.reasoning.empty()) object["reasoning_content"] = message.reasoning;
  object["content"] = message.content;
  if (!message.answered_call.empty()) object["tool_call_id"] = message.answered_call;
  if (message.calls.empty()) return object;
  if (message.content.empty()) object["content"] = nullptr;
  for (const ToolCall& call : message.calls)
    object["tool_calls"].push_back(
        {{"id", call.id},
         {"type", "function"},
         {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  return object;
}

ordered_json conversation_json(const Conversation& conversation) {
  ordered_json object{{"messages", ordered_json::array()},
                      {"add_generation_prompt", conversation.add_generation_prompt}};
  for (const Message& message : conversation.messages)
    object["messages"].push_back(message_json(message));
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) object[key] = ordered_json::parse(text);
  };
  add("tools", conversation.tools);
  add("documents", conversation.documents);
  add("variables", conversation.variables);
  return object;
}

}  // namespace

std::optional<JinjaSources> find_jinja_sources(const fs::path& dir) {
  JinjaSources sources;
  if (!read_from_files(dir, sources) && !read_from_json(dir / "tokenizer_config.json", sources) &&
      !read_from_json(dir / "chat_template.json", sources))
    return std::nullopt;
  sources.variables = read_variables(dir);
  return sources;
}

JinjaTemplate::JinjaTemplate(JinjaSources sources, std::vector<std::string> marks,
                             const RenderLimits& limits)
    : sources_(std::move(sources)), marks_(std::move(marks)), limits_(limits) {}

RendererProcess& JinjaTemplate::running() const {
  if (process_) return *process_;
  auto process = std::make_unique<RendererProcess>();
  const json ready =
      json::parse(process->exchange(dump({{"templates", sources_.templates},
                                          {"variables", ordered_json::parse(sources_.variables)},
                                          {"marks", marks_},
                                          {"seconds", limits_.seconds},
                                          {"bytes", limits_.bytes}})));
  if (ready.contains("error")) throw std::runtime_error(ready["error"].get<std::string>());
  process_ = std::move(process);
  return *process_;
}

std::string JinjaTemplate::exchange(std::string_view line) const {
  const std::lock_guard lock(mutex_);
  try {
    return running().exchange(line);
  } catch (const std::runtime_error& error) {
    process_.reset();
    throw ModelError(sources_.file, fmt::format("the chat template: {}", error.what()));
  }
}

void JinjaTemplate::prepare() const {
  const std::lock_guard lock(mutex_);
  try {
    (void)running();
  } catch (const std::runtime_error& error) {
    throw ModelError(sources_.file, fmt::format("the chat template: {}", error.what()));
  }
}

Rendering JinjaTemplate::render(const Conversation& conversation) const {
  const json answer = json::parse(exchange(dump(conversation_json(conversation))));
  if (answer.contains("error"))
    throw ModelError(sources_.file, fmt::format("the chat template refuses this conversation: {}",
                                                answer["error"].get<std::string>()));
  Rendering rendering{answer["text"].get<std::string>(), {}};
  const auto ends = answer["literal"].get<std::vector<std::size_t>>();
  for (std::size_t i = 0; i + 1 < ends.size(); i += 2)
    rendering.literal.push_back({ends[i], ends[i + 1]});
  return rendering;
}

std::vector<Token> JinjaTemplate::encode(const Tokenizer& tokenizer,
                                         const Conversation& conversation) const {
  const Rendering rendering = render(conversation);
  return tokenizer.encode(rendering.text, rendering.literal);
}

}  // namespace engine::model
