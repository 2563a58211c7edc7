// The log-probabilities of /v1/completions, in the shape of OpenAI's legacy completions:
// {"tokens", "token_logprobs", "top_logprobs", "text_offset"}, parallel arrays.
//
// "tokens" has each token's part of the text, U+FFFD for bytes that are no whole character; a
// control token has none. In "top_logprobs", an object by the token's own text, one that is no
// whole character, or whose text a likelier one has, is called "token_id:N", so that none is lost.
// "text_offset" is the character of the text, the echoed prompt included, at which the token's part
// begins. The first token of a prompt follows nothing: both its values are null.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "lane/reply_reader.h"
#include "model/stream_decoder.h"

namespace engine::lane {

// The text of an echoed prompt: control tokens are text here, too.
model::StreamDecoder echo_decoder(const Served& served, const GenerationRequest& request);

// Follows one reply, whole or in chunks.
class CompletionLogprobs {
 public:
  CompletionLogprobs(const Served& served, const GenerationRequest& request);

  // Of the tokens that come next.
  nlohmann::ordered_json json(std::span<const TokenLogprob> tokens);

 private:
  struct Part {
    std::string_view text;
    std::size_t offset;
  };
  Part take(model::Token token);

  const model::Tokenizer& tokenizer_;
  model::StreamDecoder decoder_, reply_decoder_;
  std::size_t echoed_;          // prompt tokens that are still to come
  std::size_t characters_ = 0;  // of the text so far
};

}  // namespace engine::lane
