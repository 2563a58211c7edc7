#include "runtime/prefill.h"

#include <algorithm>
#include <vector>

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

// Of the chunk whose hidden states are in the scratch. The head runs as in decode, so the logits
// after the last prompt token are those that the first token is chosen from.
void show_logits(const Lane& lane, const Chunk& chunk, const Callbacks& callbacks) {
  const std::size_t vocabulary = lane.network.config().vocabulary;
  std::vector<float> logits(std::min(chunk.rows, kMaxDecodeRows) * vocabulary);
  for (std::size_t row = 0; row < chunk.rows; row += kMaxDecodeRows) {
    const std::size_t count = std::min(chunk.rows - row, kMaxDecodeRows);
    compute_logits(lane.network, lane.state, 1 + row, count);
    lane.network.backend().download(logits.data(), lane.state.scratch().logits,
                                    count * vocabulary * sizeof(float));
    for (std::size_t i = 0; i < count; ++i)
      callbacks.on_prompt_logits(chunk.begin + row + i,
                                 std::span(logits).subspan(i * vocabulary, vocabulary));
  }
}

}  // namespace

std::size_t prefill(Lane& lane, std::span<const Token> prompt, const Callbacks& callbacks,
                    Stats& stats) {
  if (lane.drafter) lane.drafter->restart();
  for (const Chunk& chunk : length_sized_chunks(prompt.size(), lane.state.shape().prompt_rows)) {
    if (callbacks.is_cancelled()) return chunk.begin;
    run_chunk(lane, prompt, chunk);
    if (callbacks.on_prompt_logits) show_logits(lane, chunk, callbacks);
    ++stats.prefill_chunks;
    stats.prefill_rows += chunk.rows;
    if (callbacks.on_prefill) callbacks.on_prefill(chunk.end(), prompt.size());
  }
  return prompt.size();
}

}  // namespace engine::runtime
