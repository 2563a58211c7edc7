#include "lane/tool_format.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/json_spacing.h"

namespace engine::lane {
namespace {

using nlohmann::ordered_json;

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
  return fmt::format(R"({{"name": {}, "arguments": )", ordered_json(name).dump());
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
  return ToolCall{"", name,
                  usual ? std::string(verbatim) : model::spaced_json(call["arguments"].dump())};
}

}  // namespace engine::lane
