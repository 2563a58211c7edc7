#include "lane/prompt_echo.h"

#include <limits>
#include <utility>

#include "lane/completion_logprobs.h"

namespace engine::lane {

PromptEcho::PromptEcho(const Served& served, const GenerationRequest& request)
    : served_(served), request_(request), due_(request.echo) {
  if (wants_logits())
    logprobs_.push_back(
        {request.engine.prompt.front(), std::numeric_limits<double>::quiet_NaN(), {}});
}

bool PromptEcho::wants_logits() const {
  return request_.echo && request_.top_logprobs;
}

void PromptEcho::show(std::size_t position, std::span<const float> logits) {
  if (position + 1 < request_.engine.prompt.size())
    logprobs_.push_back(
        token_logprob(logits, request_.engine.prompt[position + 1], *request_.top_logprobs));
}

ReplyDelta PromptEcho::take() {
  ReplyDelta delta;
  if (!std::exchange(due_, false)) return delta;
  model::StreamDecoder decoder = echo_decoder(served_, request_);
  for (const model::Token token : request_.engine.prompt)
    delta.text += decoder.push(token);
  delta.text += decoder.finish();
  delta.logprobs = std::move(logprobs_);
  return delta;
}

}  // namespace engine::lane
