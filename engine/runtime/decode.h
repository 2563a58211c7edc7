// One decode launch: verifies drafts against the target model.
#pragma once

#include <span>
#include <vector>

#include "runtime/lane.h"
#include "runtime/sampler.h"

namespace engine::runtime {

enum class Acceptance {
  kStrict,  // a draft is accepted only if the target would have chosen it: the reply is that of no
            // drafter
  kTop2,    // ... if it is among the target's two best: faster, and the reply depends on what was
            // drafted
};

struct Verified {
  // The accepted drafts, then the target's own next token: at least one, at most drafts + 1.
  std::vector<kernels::Token> tokens;
  std::size_t accepted;  // drafts among them
};

// Runs the last token of `reply` and the drafts after it at `position` and on; writes
// their rows (those of rejected drafts are overwritten by the next launch). Row r's hidden state
// stays in state.hidden(1 + r), its logits in scratch().logits row r. REQUIRES: drafts.size() <
// kMaxDecodeRows; position + drafts.size() < context; `reply` is not empty.
Verified verify_drafts(Lane& lane, std::span<const kernels::Token> reply,
                       std::span<const kernels::Token> drafts, std::size_t position,
                       const SamplingParams& sampling, Acceptance acceptance);

}  // namespace engine::runtime
