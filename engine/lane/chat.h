// From the messages of a chat request to a prompt. The rendering of a conversation with one more
// message extends the rendering before it, tool calls included: this is what the prefix cache lives
// on.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lane/json_field.h"
#include "lane/tool_format.h"
#include "model/model.h"

namespace engine::lane {

// The messages of a request for the model's template: "developer" is "system", content parts are
// joined, and tool calls become the text that the model writes for them. Throws ApiError for a
// message that is malformed or out of place: a tool's message must answer a call before it.
std::vector<model::Message> read_messages(const JsonField& messages,
                                          const std::optional<ToolFormat>& format);

// Tells the model its tools: "\nTools:\n" and a line each at the end of the first system message,
// or in a system message of their own.
void add_tools(std::vector<model::Message>& messages, const JsonField& tools);

// The tokens of the conversation, up to where the assistant's next message begins. Throws ApiError
// where the model has no chat template or the template does not know a role.
std::vector<model::Token> encode_messages(const model::Model& model,
                                          std::span<const model::Message> messages);

}  // namespace engine::lane
