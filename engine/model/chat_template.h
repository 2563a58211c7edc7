// How chat messages become a prompt: chat_template.json in the model's folder, declarative, since
// prompts must be stable under appending and free of injection, which no general template language
// promises.
//
//   {"begin": "<|begin|>",
//    "roles": {"user": {"prefix": "<|user|>", "suffix": "<|end|>"}, "assistant": {...}, ...},
//    "generation_prompt": "<|assistant|>"}
//
// A role may name special tokens that its content may hold, "content_tokens": ["<|tool_call|>"]:
// what the assistant itself writes. Anywhere else their text in a content is ordinary text.
//
// Rendering: begin, then prefix + content + suffix of each message, then generation_prompt if
// asked. The assistant's prefix must begin with generation_prompt, so that the rendering of turn n
// with it is a prefix of turn n+1's, in text and in tokens: this is what a prefix cache lives on.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/tokenizer.h"

namespace engine::model {

struct Message {
  std::string role;
  std::string content;  // any bytes
};

// A stretch of a rendering. Control text is the template's, or a content token: special tokens in
// it are tokens. All else is content: special tokens in it are ordinary text.
struct Segment {
  std::string text;
  bool control = false;
};

class ChatTemplate {
 public:
  // Throws ModelError.
  static ChatTemplate load(const std::filesystem::path& chat_template_json);
  static ChatTemplate parse(std::string_view json, const std::filesystem::path& file);

  // Throws ModelError naming a role that the template does not have. No segment is empty.
  std::vector<Segment> render(std::span<const Message> messages, bool add_generation_prompt) const;

  // The special tokens that a reply may hold as content, by their text.
  const std::vector<std::string>& reply_tokens() const;

 private:
  struct Role {
    std::string prefix, suffix;
    std::vector<std::string> content_tokens;
  };

  std::filesystem::path file_;
  std::string begin_;
  std::map<std::string, Role, std::less<>> roles_;
  std::string generation_prompt_;
};

// Each segment is encoded by itself, so no token spans the border of control and content.
std::vector<Token> encode_chat(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                               std::span<const Message> messages, bool add_generation_prompt);

// [{"role": "user", "content": "..."}, ...], strictly: at least one message, no other keys, at most
// 64 MiB. Throws ModelError; `source` names the text in errors.
std::vector<Message> parse_messages(std::string_view json, const std::filesystem::path& source);

}  // namespace engine::model
