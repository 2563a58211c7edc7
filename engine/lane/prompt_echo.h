// The prompt as the beginning of a completion: `echo`.
#pragma once

#include <span>

#include "lane/reply_reader.h"

namespace engine::lane {

// Both must outlive it.
class PromptEcho {
 public:
  PromptEcho(const Served& served, const GenerationRequest& request);

  bool wants_logits() const;
  // The logits [V] after the prompt's token `position`; in the order of positions.
  void show(std::size_t position, std::span<const float> logits);

  // What the client sees of the prompt: once, when it has been computed; nothing without `echo`.
  ReplyDelta take();

 private:
  const Served& served_;
  const GenerationRequest& request_;
  bool due_;
  std::vector<TokenLogprob> logprobs_;
};

}  // namespace engine::lane
