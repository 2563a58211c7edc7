// How a model writes a tool call.
//
// A call is a mark, which is one token, and the JSON object {"name": NAME, "arguments": {...}}; it
// ends with the message, with the next mark or with an end mark. Two notations are known by the
// tokens that a tokenizer has:
//
//   <|tool_call|>{"name": "read_file", "arguments": {"path": "a.py"}}
//   <tool_call>\n{"name": ...}\n</tool_call>
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/chat_template.h"

namespace engine::lane {

using model::ToolCall;

struct ToolFormat {
  std::string begin_text, end_text;  // the marks with the line ends around the object
  model::Token begin = 0;
  std::optional<model::Token> end;

  // Nothing if the tokenizer has no mark for calls.
  static std::optional<ToolFormat> of(const model::Tokenizer& tokenizer);

  // What a call to `name` begins with after the mark, up to its arguments.
  static std::string opening(std::string_view name);

  // The call that the text after a mark is; nothing if it is none. `id` is left empty.
  static std::optional<ToolCall> parse(std::string_view text);
};

}  // namespace engine::lane
