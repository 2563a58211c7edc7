// How a conversation becomes a prompt: the model's own Jinja template (jinja_template.h), or this
// project's declarative form (chat_format.h).
//
// Content stays content, whichever it is: a special token comes of what the template writes. Its
// text in a message, in a call's arguments or in a tool's description is ordinary text.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/tokenizer.h"

namespace engine::model {

struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  // the text of a JSON object

  bool operator==(const ToolCall&) const = default;
};

struct Message {
  std::string role;
  std::string content;             // any bytes
  std::string reasoning = {};      // what the assistant thought before its content
  std::vector<ToolCall> calls{};   // of the assistant, after its content
  std::string answered_call = {};  // the id of the call that a tool's message answers
  std::string name = {};           // who speaks; may be empty
  // The content is what the model wrote, marks included: chat_format.h.
  bool verbatim = false;

  bool operator==(const Message&) const = default;
};

// Texts that are JSON may be empty: the conversation has none.
struct Conversation {
  std::vector<Message> messages;
  std::string tools = {};      // an array of OpenAI's {"type": "function", "function": {...}}
  std::string documents = {};  // an array
  std::string variables = {};  // an object: what the template's author left to the user
  bool add_generation_prompt = true;  // up to where the assistant's next message begins
};

// Const after construction; any thread may call it.
class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;

  // The conversation's tokens. Throws ModelError where the template refuses the conversation, or
  // takes too much time or memory for it.
  virtual std::vector<Token> encode(const Tokenizer& tokenizer,
                                    const Conversation& conversation) const = 0;

  // Makes sure that it can render at all; the first `encode` does so otherwise. Throws ModelError.
  virtual void prepare() const {}

  // The special tokens that a reply shows as text.
  virtual std::vector<std::string> reply_tokens() const { return {}; }

  // The template's text: what the model's notations are known by.
  virtual std::string_view source() const = 0;
};

// The template of a model's folder; nothing if it has none. The first of these files counts:
//
//   chat_format.json        this project's own form
//   chat_template.jinja     with additional_chat_templates/*.jinja beside it
//   tokenizer_config.json   "chat_template": a text, or a list of {"name", "template"}
//   chat_template.json      {"chat_template": ...}, as older processors were saved
//
// Throws ModelError.
std::unique_ptr<const ChatTemplate> load_chat_template(const std::filesystem::path& dir,
                                                       const Tokenizer& tokenizer);

// [{"role": "user", "content": "..."}, ...], strictly: at least one message, no other keys, at most
// 64 MiB. An assistant's content is verbatim. Throws ModelError; `source` names the text in errors.
std::vector<Message> parse_messages(std::string_view json, const std::filesystem::path& source);

}  // namespace engine::model
