// How a model writes a tool call, and how tools are told to it.
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
#include <vector>

#include "lane/json_field.h"
#include "model/tokenizer.h"

namespace engine::lane {

// As clients send and receive it.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  // JSON text, kept byte for byte so that it renders as it was generated

  bool operator==(const ToolCall&) const = default;
};

struct ToolFormat {
  std::string begin_text, end_text;  // the marks with the line ends around the object
  model::Token begin = 0;
  std::optional<model::Token> end;

  // Nothing if the tokenizer has no mark for calls.
  static std::optional<ToolFormat> of(const model::Tokenizer& tokenizer);

  // The text of a call inside an assistant's message.
  std::string render(const ToolCall& call) const;

  // What a call to `name` begins with after the mark, up to its arguments.
  static std::string opening(std::string_view name);

  // The call that the text after a mark is; nothing if it is none. `id` is left empty.
  static std::optional<ToolCall> parse(std::string_view text);
};

// The tools as the system message lists them, one line each:
//   {"name": NAME, "description": TEXT, "arguments": {ARGUMENT: TYPE, ...}}
// The description is there if the client gave one; an argument whose schema says more than its type
// shows the whole schema. `tools` is the request's field.
std::string tool_lines(const JsonField& tools);

// The names, checked: each tool is a function with a name of its own.
std::vector<std::string> tool_names(const JsonField& tools);

}  // namespace engine::lane
