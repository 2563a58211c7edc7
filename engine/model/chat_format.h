// chat_format.json, this project's own form of a chat template: declarative, since a prompt is then
// stable under appending, which no general template language promises.
//
//   {"begin": "<|begin|>",
//    "roles": {"user": {"prefix": "<|user|>", "suffix": "<|end|>"}, "assistant": {...}, ...},
//    "generation_prompt": "<|assistant|>"}
//
// Rendering: begin, then prefix + content + suffix of each message, then generation_prompt if
// asked. The assistant's prefix must begin with generation_prompt, so that the rendering of turn n
// with it is a prefix of turn n+1's, in text and in tokens: this is what a prefix cache lives on.
//
// A call is a mark, which is one token, and {"name": NAME, "arguments": {...}}; the tokenizer says
// which mark:
//
//   <|tool_call|>{"name": "read_file", "arguments": {"path": "a.py"}}
//   <tool_call>\n{"name": ...}\n</tool_call>
//
// Tools are told in the first system message, or in one of their own: "Tools:\n" and a line each,
//   {"name": NAME, "description": TEXT, "arguments": {ARGUMENT: TYPE, ...}}
// where an argument whose schema says more than its type shows the whole schema.
//
// A role may name special tokens that a verbatim content may hold, "content_tokens":
// ["<|tool_call|>"]: what the assistant itself writes.
#pragma once

#include <map>
#include <optional>
#include <span>

#include "model/chat_template.h"

namespace engine::model {

// A stretch of a rendering. Special tokens in control text, which the format writes, are tokens;
// in all else they are ordinary text.
struct Segment {
  std::string text;
  bool control = false;
};

// What stands around a call's JSON; an end that is empty is none.
struct CallMarks {
  std::string begin, after_begin, before_end, end;

  static std::optional<CallMarks> of(const Tokenizer& tokenizer);
};

class ChatFormat final : public ChatTemplate {
 public:
  // Throws ModelError; for Hugging Face's chat_template.json too, which is another thing.
  static ChatFormat load(const std::filesystem::path& chat_format_json);
  static ChatFormat parse(std::string_view json, const std::filesystem::path& file);

  // Throws ModelError naming a role that the format does not have. No segment is empty.
  std::vector<Segment> render(const Conversation& conversation,
                              const std::optional<CallMarks>& marks = {}) const;

  // Each segment is encoded by itself, so no token spans the border of control and content.
  std::vector<Token> encode(const Tokenizer& tokenizer,
                            const Conversation& conversation) const override;
  std::vector<std::string> reply_tokens() const override;
  std::string_view source() const override { return source_; }

 private:
  struct Role {
    std::string prefix, suffix;
    std::vector<std::string> content_tokens;
  };

  void append_message(std::vector<Segment>& segments, const Message& message,
                      const std::optional<CallMarks>& marks) const;

  std::filesystem::path file_;
  std::string source_;
  std::string begin_;
  std::map<std::string, Role, std::less<>> roles_;
  std::string generation_prompt_;
};

}  // namespace engine::model
