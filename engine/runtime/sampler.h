// Chooses the next token from a row of logits.
//
// The choice at a position is a pure function of (logits, parameters, position): greedy takes the
// largest logit, ties to the lowest id; sampling draws one Philox number keyed by (seed, position).
// So a drafted token can be checked against what the target would have chosen, sampling included.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/ops.h"

namespace engine::runtime {

// Changes a row of logits on the host before its token is chosen: bans, biases, penalties. `reply`
// are the reply's tokens before it, with the drafts that are being verified, so a rule that is a
// pure function of both makes the reply one, too, whatever is drafted or kept from a request
// before. The backend's logits stay as they are. REQUIRES: one logit at least stays above
// -infinity.
using LogitsRule =
    std::function<void(std::span<const kernels::Token> reply, std::span<float> logits)>;

struct SamplingParams {
  float temperature = 0;  // 0: greedy. Must be finite and >= 0
  std::size_t top_k = 0;  // keep the k largest; 0: all
  float top_p = 1;        // keep the smallest set of at least this probability; in (0, 1]
  std::uint64_t seed = 0;
  float min_p = 0;    // drop what is less likely than this times the likeliest; in [0, 1]
  LogitsRule rule{};  // may be empty
};

struct Choice {
  kernels::Token token;  // what the target takes here
  kernels::Top2 top2;    // the two largest logits, for top2 acceptance
};

// One choice for each row of logits [rows, V] in backend memory; row r decides the token at
// position `position` + r, and follows all of `reply` but its last rows - 1 - r tokens; only a rule
// reads it. Waits for the backend.
std::vector<Choice> choose_tokens(kernels::Backend& backend, const float* logits, std::size_t rows,
                                  std::size_t vocabulary, std::size_t position,
                                  const SamplingParams& params,
                                  std::span<const kernels::Token> reply = {});

// The sampled token for one row of logits in host memory. REQUIRES: temperature > 0.
kernels::Token sample_token(const std::vector<float>& logits, std::size_t position,
                            const SamplingParams& params);

}  // namespace engine::runtime
