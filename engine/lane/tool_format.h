// How a model writes tool calls and thoughts: notations of published models, known by the marks
// that a model's chat template and tokenizer have.
//
//   json      <tool_call>{"name": "f", "arguments": {...}}</tool_call>       Qwen, Hermes
//             <|tool_call|>{"name": "f", "arguments": {...}}                 the built-in model
//             <|tool_call|>[{"name": "f", "arguments": {...}}, ...]          Granite, Phi-4
//   llama3    {"name": "f", "parameters": {...}}, with <|python_tag|> before it or not
//   mistral   [TOOL_CALLS][{"name": "f", "arguments": {...}}], newer: [TOOL_CALLS]f[ARGS]{...}
//   glm       <tool_call>f <arg_key>K</arg_key> <arg_value>V</arg_value> ... </tool_call>
//   deepseek  <｜tool▁call▁begin｜>f<｜tool▁sep｜>{...}<｜tool▁call▁end｜>, all of them between
//             <｜tool▁calls▁begin｜> and <｜tool▁calls▁end｜>
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace engine::lane {

using model::ToolCall;

struct ToolFormat {
  enum class Notation { kJson, kLlama3, kMistral, kGlm, kDeepSeek };

  Notation notation = Notation::kJson;
  std::string begin{}, end{};  // a call's marks; it ends with the message, too
  // Marks are tokens where the tokenizer has them, else texts; blanks around them are not content.
  std::string lead{}, trail{};  // before the first call's mark and after the last one's
  std::string before_name{};    // in a prompt that begins a call: from its mark to the tool's name
  std::string after_name{};     // and from there to the arguments
  std::string escaped_quote{};  // empty, or what a name is written within

  // The model's; nothing if no notation is known.
  static std::optional<ToolFormat> of(const model::Model& model);
  // By the words above; "<tool_call>" and the others are then its marks. Throws
  // std::invalid_argument.
  static ToolFormat named(std::string_view name, const model::Model& model);

  // What a call begins with after the mark, up to its arguments or, without a name, to its name.
  std::string opening(const std::optional<std::string>& name) const;

  // The calls that the text between two marks is; none if it is no call. `tools`, the request's,
  // say which of GLM's values are texts. Ids are left empty.
  std::vector<ToolCall> parse(std::string_view text,
                              const nlohmann::ordered_json& tools = {}) const;

  // Whether a message that begins with this text, and a '{' before all else, can still turn out to
  // be calls of `tools` without a mark.
  bool may_be_bare_call(std::string_view text, const nlohmann::ordered_json& tools) const;
};

// The marks around what a model thinks before it answers; nothing if it has none.
struct ThoughtMarks {
  std::string begin, end;

  static std::optional<ThoughtMarks> of(const model::Model& model);
};

}  // namespace engine::lane
