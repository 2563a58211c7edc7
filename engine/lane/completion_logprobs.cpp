#include "lane/completion_logprobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace engine::lane {
namespace {

using nlohmann::ordered_json;

std::size_t count_characters(std::string_view utf8) {
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(utf8, begins));
}

bool is_whole(const model::Tokenizer& tokenizer, model::Token token) {
  const std::string_view bytes = tokenizer.decode(token);
  model::StreamDecoder decoder(tokenizer, {token});
  return decoder.push(token) + decoder.finish() == bytes;
}

ordered_json number_or_null(double value) {
  return std::isnan(value) ? ordered_json() : ordered_json(value);
}

ordered_json top_json(const TokenLogprob& token, const model::Tokenizer& tokenizer) {
  if (std::isnan(token.logprob)) return nullptr;
  ordered_json top = ordered_json::object();
  for (const auto& [other, logprob] : token.top) {
    std::string name(tokenizer.decode(other));
    if (!is_whole(tokenizer, other) || top.contains(name)) name = fmt::format("token_id:{}", other);
    top[name] = logprob;
  }
  return top;
}

}  // namespace

model::StreamDecoder echo_decoder(const Served& served, const GenerationRequest& request) {
  std::vector<model::Token> control;
  for (const model::Token token : request.engine.prompt) {
    if (served.model.tokenizer().is_special(token) &&
        std::ranges::find(control, token) == control.end())
      control.push_back(token);
  }
  return model::StreamDecoder(served.model.tokenizer(), std::move(control));
}

CompletionLogprobs::CompletionLogprobs(const Served& served, const GenerationRequest& request)
    : tokenizer_(served.model.tokenizer()),
      decoder_(request.echo ? echo_decoder(served, request) : served.model.reply_decoder()),
      reply_decoder_(served.model.reply_decoder()),
      echoed_(request.echo ? request.engine.prompt.size() : 0) {}

ordered_json CompletionLogprobs::json(std::span<const TokenLogprob> tokens) {
  ordered_json names = ordered_json::array(), logprobs = names, tops = names, offsets = names;
  for (const TokenLogprob& token : tokens) {
    const Part part = take(token.token);
    names.push_back(part.text);
    logprobs.push_back(number_or_null(token.logprob));
    tops.push_back(top_json(token, tokenizer_));
    offsets.push_back(part.offset);
  }
  return {{"tokens", names},
          {"token_logprobs", logprobs},
          {"top_logprobs", tops},
          {"text_offset", offsets}};
}

// Bytes that wait for the rest of a character may turn out to be none; then U+FFFD stands before
// the token's own text.
CompletionLogprobs::Part CompletionLogprobs::take(model::Token token) {
  const std::string text = decoder_.push(token);
  Part part{tokenizer_.decode(token), characters_};
  characters_ += count_characters(text);
  const bool complete = text.ends_with(part.text) && is_whole(tokenizer_, token);
  if (complete) part.offset = characters_ - count_characters(part.text);
  if (!complete && tokenizer_.is_special(token)) part.text = "";
  if (echoed_ > 0 && --echoed_ == 0) {
    characters_ += count_characters(decoder_.finish());
    decoder_ = reply_decoder_;
  }
  return part;
}

}  // namespace engine::lane
