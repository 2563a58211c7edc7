// The tokenizer and chat template of init_model's models: the 256 bytes, whose ids are their
// values, 56 merges that are common in English, and the tokens of roles and tool calls. Internal.
#pragma once

#include <cstddef>
#include <string>

#include "model/token.h"

namespace engine::model {

std::size_t byte_tokenizer_size();

// "<|end|>", which ends a message.
Token byte_tokenizer_end();

// Texts of a tokenizer.json and of the chat_format.json that goes with it.
std::string byte_tokenizer_json();
std::string byte_chat_format_json();

}  // namespace engine::model
