// Chooses the next token from a row of logits.
//
// The choice at a position is a pure function of (logits, parameters, position): greedy takes the
// largest logit, ties to the lowest id; sampling draws one Philox number keyed by (seed, position).
// So a drafted token can be checked against what the target would have chosen, sampling included.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops.h"

namespace engine::runtime {

struct SamplingParams {
  float temperature = 0;  // 0: greedy. Must be finite and >= 0
  std::size_t top_k = 0;  // keep the k largest; 0: all
  float top_p = 1;        // keep the smallest set of at least this probability; in (0, 1]
  std::uint64_t seed = 0;
};

struct Choice {
  kernels::Token token;  // what the target takes here
  kernels::Top2 top2;    // the two largest logits, for top2 acceptance
};

// One choice for each row of logits [rows, V] in backend memory; row r decides the token at
// position `position` + r. Waits for the backend.
std::vector<Choice> choose_tokens(kernels::Backend& backend, const float* logits, std::size_t rows,
                                  std::size_t vocabulary, std::size_t position,
                                  const SamplingParams& params);

// The sampled token for one row of logits in host memory. REQUIRES: temperature > 0.
kernels::Token sample_token(const std::vector<float>& logits, std::size_t position,
                            const SamplingParams& params);

}  // namespace engine::runtime
