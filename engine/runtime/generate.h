// Prefill, then the draft-verify-accept loop.
#pragma once

#include <span>
#include <vector>

#include "runtime/decode.h"
#include "runtime/lane.h"
#include "runtime/sampler.h"
#include "runtime/stats.h"

namespace engine::runtime {

struct GenerateParams {
  std::size_t max_tokens = 256;  // 0: only the prompt's rows are computed
  std::vector<kernels::Token> stop_tokens;
  SamplingParams sampling;
  Acceptance acceptance = Acceptance::kStrict;
  std::size_t draft_tokens = 3;  // drafts a launch; 0: no drafting
  bool keep_logits = false;      // fill Reply::logits
};

enum class FinishReason {
  kStop,       // a stop token, which is the last of Reply::tokens
  kLength,     // max_tokens
  kContext,    // the buffer is full
  kCancelled,  // by the caller
};

struct Reply {
  std::vector<kernels::Token> tokens;
  // With keep_logits: for each token the logits [V] it was chosen from.
  std::vector<std::vector<float>> logits;
  FinishReason finish = FinishReason::kCancelled;
  Stats stats;
};

// Computes the prompt's rows and generates. Afterwards the buffer holds the rows of the prompt and
// of all reply tokens but the last. REQUIRES: 1 <= prompt.size() <= context; draft_tokens <
// kMaxDecodeRows.
Reply generate(Lane& lane, std::span<const kernels::Token> prompt, const GenerateParams& params,
               const Callbacks& callbacks);

}  // namespace engine::runtime
