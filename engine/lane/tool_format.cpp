#include "lane/tool_format.h"

#include <fmt/format.h>

#include <set>

namespace engine::lane {
namespace {

using nlohmann::ordered_json;

// One line with blanks after ',' and ':', as most training data is written.
std::string spaced(const ordered_json& value) {
  std::vector<std::string> parts;
  if (value.is_object()) {
    for (const auto& [key, member] : value.items())
      parts.push_back(ordered_json(key).dump(-1, ' ', true) + ": " + spaced(member));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  if (value.is_array()) {
    for (const ordered_json& element : value)
      parts.push_back(spaced(element));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  return value.dump(-1, ' ', true);
}

ordered_json arguments_of(const JsonField& function) {
  ordered_json arguments = ordered_json::object();
  const std::optional<JsonField> schema = function.find("parameters");
  if (!schema) return arguments;
  const std::optional<JsonField> properties = schema->find("properties");
  if (!properties) return arguments;
  properties->require_object();
  for (const auto& [name, property] : properties->value().items()) {
    const bool only_type =
        property.is_object() && property.size() == 1 && property.contains("type");
    arguments[name] = only_type ? property["type"] : property;
  }
  return arguments;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace

std::optional<ToolFormat> ToolFormat::of(const model::Tokenizer& tokenizer) {
  if (const auto mark = tokenizer.find("<|tool_call|>"))
    return ToolFormat{"<|tool_call|>", "", *mark, std::nullopt};
  if (const auto mark = tokenizer.find("<tool_call>"))
    return ToolFormat{"<tool_call>\n", "\n</tool_call>", *mark, tokenizer.find("</tool_call>")};
  return std::nullopt;
}

std::string ToolFormat::opening(std::string_view name) {
  return fmt::format(R"({{"name": {}, "arguments": )", ordered_json(name).dump(-1, ' ', true));
}

std::string ToolFormat::render(const ToolCall& call) const {
  return begin_text + opening(call.name) + call.arguments + "}" + end_text;
}

std::optional<ToolCall> ToolFormat::parse(std::string_view text) {
  text = trimmed(text);
  const ordered_json call = ordered_json::parse(text.begin(), text.end(), nullptr, false);
  if (!call.is_object() || !call.contains("name") || !call["name"].is_string() ||
      !call.contains("arguments") || !call["arguments"].is_object())
    return std::nullopt;
  const auto name = call["name"].get<std::string>();
  // In the usual notation the arguments are taken as they stand.
  const std::string start = opening(name);
  const bool usual = call.size() == 2 && text.starts_with(start);
  const std::string_view verbatim =
      usual ? trimmed(text.substr(start.size(), text.size() - start.size() - 1)) : "";
  return ToolCall{"", name, usual ? std::string(verbatim) : spaced(call["arguments"])};
}

std::string tool_lines(const JsonField& tools) {
  std::vector<std::string> lines;
  for (const JsonField& tool : tools.elements()) {
    const JsonField function = tool.at("function");
    ordered_json line{{"name", function.at("name").string()}};
    if (const auto text = function.find("description")) line["description"] = text->string();
    line["arguments"] = arguments_of(function);
    lines.push_back(spaced(line));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::vector<std::string> tool_names(const JsonField& tools) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const JsonField& tool : tools.elements()) {
    if (const JsonField type = tool.at("type"); type.string() != "function")
      type.fail_expected("\"function\"");
    const JsonField field = tool.at("function").at("name");
    std::string name = field.string();
    if (name.empty()) field.fail("a tool's name is empty");
    if (!seen.insert(name).second)
      field.fail(fmt::format("another tool is named \"{}\", too", name));
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace engine::lane
