// What a request wants changed in the logits before a token is chosen: see runtime::LogitsRule.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "model/token.h"
#include "runtime/engine.h"

namespace engine::lane {

struct LogitChanges {
  // Of a token that the prompt or the reply has: a positive logit is divided by it, another one
  // multiplied (Keskar et al., "CTRL", 2019).
  float repetition = 1;
  // Taken from a token that the reply has: once, and for each time (OpenAI's).
  float presence = 0, frequency = 0;
  std::vector<std::pair<model::Token, float>> bias{};  // added
  std::size_t min_tokens = 0;  // no stop token is chosen before the reply has as many

  bool empty() const {
    return repetition == 1 && presence == 0 && frequency == 0 && bias.empty() && min_tokens == 0;
  }
};

// The rule of these changes; empty if there are none. `request` has its prompt and stop tokens.
runtime::LogitsRule rule_of(const LogitChanges& changes, const runtime::Request& request);

}  // namespace engine::lane
