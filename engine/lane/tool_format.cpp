#include "lane/tool_format.h"

#include <fmt/format.h>

#include <array>
#include <sstream>
#include <stdexcept>

#include "model/json_spacing.h"

namespace engine::lane {
namespace {

using nlohmann::ordered_json;
using Notation = ToolFormat::Notation;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// What stands before `mark`, which is dropped with it from `text`; nothing if it is not there.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + mark.size());
  return before;
}

ordered_json parse_json(std::string_view text) {
  return ordered_json::parse(text.begin(), text.end(), nullptr, false);
}

// A call of the arguments as they stand; nothing if they are no object.
std::optional<ToolCall> with_arguments(std::string_view name, std::string_view arguments) {
  name = trimmed(name);
  if (name.empty() || !parse_json(arguments).is_object()) return std::nullopt;
  return ToolCall{"", std::string(name), std::string(trimmed(arguments))};
}

std::optional<ToolCall> from_object(const ordered_json& call) {
  if (!call.is_object() || !call.contains("name") || !call["name"].is_string()) return std::nullopt;
  for (const char* key : {"arguments", "parameters"}) {
    if (call.contains(key) && call[key].is_object())
      return ToolCall{"", call["name"].get<std::string>(), model::spaced_json(call[key].dump())};
  }
  return std::nullopt;
}

std::vector<ToolCall> all_or_none(const std::vector<std::optional<ToolCall>>& found) {
  std::vector<ToolCall> calls;
  for (const std::optional<ToolCall>& call : found) {
    if (!call) return {};
    calls.push_back(*call);
  }
  return calls;
}

// {"name": ..., "arguments": {...}}; in the usual notation the arguments are taken as they stand.
std::vector<ToolCall> parse_object(std::string_view text, const std::string& opening_of_name) {
  const ordered_json object = parse_json(text);
  std::optional<ToolCall> call = from_object(object);
  if (!call) return {};
  if (object.size() == 2 && text.starts_with(opening_of_name))
    call->arguments =
        trimmed(text.substr(opening_of_name.size(), text.size() - opening_of_name.size() - 1));
  return {*call};
}

// One object after the other, with ';' between or nothing.
std::vector<ToolCall> parse_objects(std::string_view text) {
  std::vector<std::optional<ToolCall>> found;
  std::istringstream in{std::string(text)};
  try {
    for (int next = 0; (next = (in >> std::ws).peek()) != std::istringstream::traits_type::eof();) {
      if (next == ';' || next == ',') {
        in.get();
        continue;
      }
      ordered_json object;
      in >> object;
      found.push_back(from_object(object));
    }
  } catch (const ordered_json::exception&) {
    return {};
  }
  return all_or_none(found);
}

std::vector<ToolCall> parse_array(std::string_view text) {
  std::vector<std::optional<ToolCall>> found;
  for (const ordered_json& object : parse_json(text))
    found.push_back(from_object(object));
  return all_or_none(found);
}

// What stands before the arguments' '{' is notation; what follows may quote it.
std::vector<ToolCall> parse_mistral(std::string_view text) {
  if (text.starts_with('[')) return parse_array(text);
  const std::string_view head = text.substr(0, text.find('{'));
  const std::size_t name_end = std::min(head.find("[ARGS]"), head.find("[CALL_ID]"));
  return all_or_none({with_arguments(head.substr(0, name_end), text.substr(head.size()))});
}

bool is_text(const ordered_json& tools, std::string_view name, const std::string& argument) {
  for (const ordered_json& tool : tools) {
    if (tool.at("function").at("name") != name) continue;
    // A client's schema may be of any shape: what is no text there is none.
    const ordered_json* at = &tool.at("function");
    for (const std::string& key :
         {std::string("parameters"), std::string("properties"), argument, std::string("type")}) {
      if (!at->is_object() || !at->contains(key)) return false;
      at = &at->at(key);
    }
    return *at == "string";
  }
  return false;
}

std::vector<ToolCall> parse_glm(std::string_view text, const ordered_json& tools) {
  const std::string_view name =
      trimmed(text.substr(0, std::min(text.find('\n'), text.find("<arg_key>"))));
  if (name.empty()) return {};
  text.remove_prefix(name.size());
  ordered_json arguments = ordered_json::object();
  while (take_until(text, "<arg_key>")) {
    const auto key = take_until(text, "</arg_key>");
    const bool has_value = key && take_until(text, "<arg_value>");
    const auto value = has_value ? take_until(text, "</arg_value>") : std::nullopt;
    if (!value) return {};
    const std::string argument(trimmed(*key));
    const ordered_json json = parse_json(*value);
    const bool as_text = json.is_discarded() || is_text(tools, name, argument);
    arguments[argument] = as_text ? ordered_json(std::string(*value)) : json;
  }
  return {ToolCall{"", std::string(name), model::spaced_json(arguments.dump())}};
}

// NAME<｜tool▁sep｜>{...}; older: function<｜tool▁sep｜>NAME\n```json\n{...}\n```.
std::vector<ToolCall> parse_deepseek(std::string_view text) {
  std::string_view rest = text;
  std::optional<std::string_view> name = take_until(rest, "<｜tool▁sep｜>");
  // An argument may hold a fence of its own, so only what comes before the arguments counts.
  if (name && !trimmed(rest).starts_with('{')) {
    constexpr std::string_view kFence = "```";
    name = take_until(rest, "```json");
    rest = trimmed(rest);
    if (rest.ends_with(kFence)) rest.remove_suffix(kFence.size());
  }
  if (!name) return {};
  return all_or_none({with_arguments(*name, rest)});
}

struct Known {
  std::string_view name;
  ToolFormat format;
};

bool has(const model::Model& model, std::string_view text) {
  const model::ChatTemplate* chat = model.chat_template();
  return (chat != nullptr && chat->source().find(text) != std::string_view::npos) ||
         model.tokenizer().find(text).has_value();
}

ToolFormat json_format(std::string begin, std::string end, const std::string& before_object) {
  return {.notation = Notation::kJson,
          .begin = std::move(begin),
          .end = std::move(end),
          .before_name = before_object + R"({"name": )",
          .after_name = R"(, "arguments": )",
          .escaped_quote = "\""};
}

// The built-in model's mark, which Granite and Phi-4 write before an array.
ToolFormat json_format(const model::Model& model) {
  if (!model.tokenizer().find("<|tool_call|>"))
    return json_format("<tool_call>", "</tool_call>", "\n");
  if (has(model, "<|/tool_call|>")) return json_format("<|tool_call|>", "<|/tool_call|>", "[");
  return json_format("<|tool_call|>", "", has(model, "JSON list of tools") ? "[" : "");
}

ToolFormat mistral_format(const model::Model& model) {
  ToolFormat format{
      .notation = Notation::kMistral, .begin = "[TOOL_CALLS]", .after_name = "[ARGS]"};
  if (has(model, "[ARGS]")) return format;
  format.before_name = R"( [{"name": )";
  format.after_name = R"(, "arguments": )";
  format.escaped_quote = "\"";
  return format;
}

ToolFormat deepseek_format(const model::Model& model) {
  const bool fenced = has(model, "```json");
  return {.notation = Notation::kDeepSeek,
          .begin = "<｜tool▁call▁begin｜>",
          .end = "<｜tool▁call▁end｜>",
          .lead = "<｜tool▁calls▁begin｜>",
          .trail = "<｜tool▁calls▁end｜>",
          .before_name = fenced ? "function<｜tool▁sep｜>" : "",
          .after_name = fenced ? "\n```json\n" : "<｜tool▁sep｜>"};
}

}  // namespace

ToolFormat ToolFormat::named(std::string_view name, const model::Model& model) {
  if (name == "json") return json_format(model);
  if (name == "llama3")
    return {.notation = Notation::kLlama3,
            .begin = "<|python_tag|>",
            .before_name = R"({"name": )",
            .after_name = R"(, "parameters": )",
            .escaped_quote = "\""};
  if (name == "mistral") return mistral_format(model);
  if (name == "glm")
    return {.notation = Notation::kGlm,
            .begin = "<tool_call>",
            .end = "</tool_call>",
            .after_name = "\n"};
  if (name == "deepseek") return deepseek_format(model);
  throw std::invalid_argument(fmt::format(
      "no notation \"{}\" for tool calls; there are json, llama3, mistral, glm, deepseek", name));
}

std::optional<ToolFormat> ToolFormat::of(const model::Model& model) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kKnownBy{
      {{"<|tool_call|>", "json"},
       {"[TOOL_CALLS]", "mistral"},
       {"<｜tool▁call▁begin｜>", "deepseek"},
       {"<arg_key>", "glm"},
       {"<tool_call>", "json"},
       {"<|python_tag|>", "llama3"}}};
  if (has(model, "<function=")) return std::nullopt;  // another one, not read here
  for (const auto& [mark, name] : kKnownBy) {
    if (has(model, mark)) return named(name, model);
  }
  return std::nullopt;
}

std::string ToolFormat::opening(const std::optional<std::string>& name) const {
  if (!name) return before_name + escaped_quote;
  return before_name + (escaped_quote.empty() ? *name : ordered_json(*name).dump()) + after_name;
}

std::vector<ToolCall> ToolFormat::parse(std::string_view text, const ordered_json& tools) const {
  text = trimmed(text);
  switch (notation) {
    case Notation::kJson: {
      if (text.starts_with('[')) return parse_array(text);
      const ordered_json object = parse_json(text);
      if (!object.is_object() || !object.contains("name")) return {};
      return parse_object(text,
                          fmt::format(R"({{"name": {}, "arguments": )", object["name"].dump()));
    }
    case Notation::kLlama3:
      return parse_objects(text);
    case Notation::kMistral:
      return parse_mistral(text);
    case Notation::kGlm:
      return parse_glm(text, tools);
    case Notation::kDeepSeek:
      return parse_deepseek(text);
  }
  return {};
}

bool ToolFormat::may_be_bare_call(std::string_view text, const ordered_json& tools) const {
  if (notation != Notation::kLlama3) return false;
  constexpr std::size_t kLooked = 1024;
  const std::string start = model::spaced_json(text.substr(0, kLooked));
  const auto fits = [&](const std::string& call) {
    return start.starts_with(call) || call.starts_with(start);
  };
  for (const ordered_json& tool : tools) {
    const std::string name = tool.at("function").at("name").dump();
    for (const char* before : {R"({"name": )", R"({"type": "function", "name": )"})
      if (fits(before + name)) return true;
  }
  return fits(R"({"parameters": )") || fits(R"({"arguments": )");
}

std::optional<ThoughtMarks> ThoughtMarks::of(const model::Model& model) {
  if (has(model, "<think>")) return ThoughtMarks{"<think>", "</think>"};
  if (has(model, "[THINK]")) return ThoughtMarks{"[THINK]", "[/THINK]"};
  return std::nullopt;
}

}  // namespace engine::lane
