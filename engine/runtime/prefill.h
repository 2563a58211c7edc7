// Computes the KV rows of a prompt, chunk by chunk.
#pragma once

#include <span>

#include "runtime/lane.h"
#include "runtime/stats.h"

namespace engine::runtime {

// Writes rows [0, prompt.size()) and leaves the last row's hidden state in state.hidden(0). Returns
// how many rows are complete: prompt.size(), or less if cancelled.
// Adds its launches and rows to `stats`.  REQUIRES: 1 <= prompt.size() <= context.
std::size_t prefill(Lane& lane, std::span<const kernels::Token> prompt, const Callbacks& callbacks,
                    Stats& stats);

}  // namespace engine::runtime
