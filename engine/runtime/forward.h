// The decoder's forward pass over the rows of one launch.
#pragma once

#include <span>

#include "runtime/network.h"
#include "runtime/state.h"

namespace engine::runtime {

// Where a layer's launch sits in the text. Which keys a row sees is its layer's window.
struct LaunchRows {
  std::size_t rows;
  std::size_t position;  // of row 0
  std::size_t first;     // no key before this position is read
  kernels::Phase phase;
};

// x[R, H] += attention and feed-forward of one decoder layer; writes what it keeps of the rows into
// `kept`.
void decoder_layer(const Network& network, const State& state, const Layer& layer,
                   const LayerRows& kept, float* x, const LaunchRows& launch);

// Runs the model over tokens at positions [position, position + R): writes their KV rows and leaves
// their hidden states (before the final norm) in state.hidden(1 + r).
// REQUIRES: 1 <= R <= prompt_rows in prefill, kMaxDecodeRows in decode; position + R <= context;
// rows [0, position) are in the buffer.
void forward(const Network& network, State& state, std::span<const kernels::Token> tokens,
             std::size_t position, kernels::Phase phase);

// scratch().logits[count, V] of state.hidden(row) and the rows after it.  REQUIRES: count <=
// kMaxDecodeRows.
void compute_logits(const Network& network, const State& state, std::size_t row, std::size_t count);

}  // namespace engine::runtime
