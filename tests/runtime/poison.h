// Rows filled with one bit pattern, past the engine and through its backend: proof that a row is
// never read.
#pragma once

#include <vector>

#include "runtime/engine.h"

namespace engine::runtime::testing {

inline constexpr kernels::bf16 kNaN{0x7fc0};

// The lane of an engine that the caller may change, as no one outside of a test does.
inline Lane& lane_of(Engine& engine) {
  return const_cast<Lane&>(engine.lane());
}

// Fills slots [begin, end) of each of the tensors with NaN.
inline void poison_slots(const Network& network, const std::vector<KeptTensor>& tensors,
                         std::size_t begin, std::size_t end) {
  for (const KeptTensor& tensor : tensors) {
    const std::vector<kernels::bf16> poison(
        (end - begin) * tensor.row_bytes / sizeof(kernels::bf16), kNaN);
    network.backend().upload(tensor.data + begin * tensor.row_bytes, poison.data(),
                             (end - begin) * tensor.row_bytes);
  }
}

// Rows [begin, end) of every layer.
inline void poison_rows(const Network& network, const State& state, std::size_t begin,
                        std::size_t end) {
  for (std::size_t layer = 0; layer < network.layers.size(); ++layer)
    poison_slots(network, state.kept(layer), begin, end);
}

inline void poison_rows(const Engine& engine, std::size_t begin, std::size_t end) {
  poison_rows(engine.lane().network, engine.lane().state, begin, end);
}

inline void poison_ring(const Engine& engine) {
  const State& state = engine.lane().state;
  poison_slots(engine.lane().network, state.kept_ring(), 0, state.shape().ring_rows);
}

}  // namespace engine::runtime::testing
