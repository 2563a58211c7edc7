// What a request demands of the reply, as a grammar: response_format, and a demanded tool_choice.
#pragma once

#include "lane/request.h"

namespace engine::lane {

// What `response_format` asks for.
struct ReplyFormat {
  bool json = false;
  std::optional<JsonField> schema;  // none: any object
};

// Throws ApiError for what is neither text, json_object nor json_schema.
ReplyFormat read_reply_format(const JsonField& body);

// The rule that keeps the reply to the format, or to a call where one is demanded (`begun_call` is
// then the text that the prompt has after the mark, `name` the tool's if one is named); empty if
// neither. With tools a reply of a format may be a call instead. Arguments keep to a tool's
// schema as far as a grammar can say it, with "strict": true in full. Throws ApiError.
runtime::LogitsRule reply_rule(const ReplyFormat& format, const std::optional<JsonField>& tools,
                               const std::optional<std::string>& name,
                               const GenerationRequest& request, const Served& served);

}  // namespace engine::lane
