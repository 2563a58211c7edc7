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

// Fills K and V of slots [begin, end) of `rows` with NaN.
inline void poison_slots(const Network& network, const kernels::KvRows& rows, std::size_t begin,
                         std::size_t end) {
  const model::ModelConfig& c = network.config();
  const std::size_t elements = c.kv_heads * c.head_size;
  const std::vector<kernels::bf16> poison((end - begin) * elements, kNaN);
  for (kernels::bf16* to : {rows.k, rows.v}) {
    network.backend().upload(to + begin * elements, poison.data(),
                             poison.size() * sizeof(kernels::bf16));
  }
}

// Rows [begin, end) of every layer.
inline void poison_rows(const Network& network, const State& state, std::size_t begin,
                        std::size_t end) {
  for (std::size_t layer = 0; layer < network.layers.size(); ++layer)
    poison_slots(network, state.kv(layer), begin, end);
}

inline void poison_rows(const Engine& engine, std::size_t begin, std::size_t end) {
  poison_rows(engine.lane().network, engine.lane().state, begin, end);
}

inline void poison_ring(const Engine& engine) {
  const kernels::KvRows ring = engine.lane().state.ring();
  poison_slots(engine.lane().network, ring, 0, ring.slots);
}

}  // namespace engine::runtime::testing
