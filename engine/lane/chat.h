// From a chat request to a prompt.
#pragma once

#include <vector>

#include "lane/json_field.h"
#include "model/model.h"

namespace engine::lane {

// What a request says, for the model's template: its "messages", "tools", "documents" and
// "chat_template_kwargs". "developer" is "system", content parts are joined, and a call's arguments
// have one spelling, whatever blanks the client sends. Throws ApiError for a message that is
// malformed or out of place: a tool's message must answer a call before it.
model::Conversation read_conversation(const JsonField& body);

// The names, checked: each tool is a function with a name of its own.
std::vector<std::string> tool_names(const JsonField& tools);

// The tokens of the conversation, up to where the assistant's next message begins. Throws ApiError
// where the model has no chat template or the template refuses the conversation.
std::vector<model::Token> encode_conversation(const model::Model& model,
                                              const model::Conversation& conversation);

}  // namespace engine::lane
