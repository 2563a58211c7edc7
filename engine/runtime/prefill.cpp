#include "runtime/prefill.h"

#include "runtime/forward.h"

namespace engine::runtime {
namespace {

using kernels::Token;

void run_chunk(Lane& lane, std::span<const Token> prompt, const Chunk& chunk) {
  const std::span<const Token> tokens = prompt.subspan(chunk.begin, chunk.rows);
  forward(lane.network, lane.state, tokens, chunk.begin, kernels::Phase::kPrefill);
  if (lane.drafter) lane.drafter->follow_chunk(prompt, chunk);
  kernels::Backend& backend = lane.network.backend();
  const std::size_t row_bytes = lane.network.config().hidden * sizeof(float);
  backend.copy(lane.state.hidden(0), lane.state.hidden(chunk.rows), row_bytes);
  // A chunk counts as complete only once the device has written it.
  backend.synchronize();
}

}  // namespace

std::size_t prefill(Lane& lane, std::span<const Token> prompt, const Callbacks& callbacks,
                    Stats& stats) {
  if (lane.drafter) lane.drafter->restart();
  for (const Chunk& chunk : length_sized_chunks(prompt.size(), lane.state.shape().prompt_rows)) {
    if (callbacks.is_cancelled()) return chunk.begin;
    run_chunk(lane, prompt, chunk);
    ++stats.prefill_chunks;
    stats.prefill_rows += chunk.rows;
    if (callbacks.on_prefill) callbacks.on_prefill(chunk.end(), prompt.size());
  }
  return prompt.size();
}

}  // namespace engine::runtime
