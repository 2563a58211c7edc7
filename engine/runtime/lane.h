// One serial stream of requests: the network it runs and the one state it owns.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "runtime/drafter.h"
#include "runtime/network.h"
#include "runtime/state.h"

namespace engine::runtime {

struct Lane {
  const Network& network;
  State state;
  std::optional<Drafter> drafter;  // where the model has a multi-token-prediction layer
};

// What a caller may watch; each may be empty. Called on the thread that runs the request.
struct Callbacks {
  // After a prefill chunk has completed: rows [0, done) of `total` are in the buffer.
  std::function<void(std::size_t done, std::size_t total)> on_prefill;
  std::function<void(kernels::Token)> on_token;
  // Before on_token: the logits [V] that the token was chosen from, valid until the next call.
  std::function<void(std::span<const float>)> on_logits;
  // After a prefill chunk: the logits [V] after each of its prompt tokens, in the order of
  // positions, valid until the next call. A request that shows them computes every row of its
  // prompt.
  std::function<void(std::size_t position, std::span<const float>)> on_prompt_logits;
  // Asked between launches; true ends the request there.
  std::function<bool()> cancelled;

  bool is_cancelled() const { return cancelled && cancelled(); }
};

}  // namespace engine::runtime
