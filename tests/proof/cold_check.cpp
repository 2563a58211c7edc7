#include "proof/cold_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

namespace engine::runtime::testing {
namespace {

using kernels::bf16;

std::size_t row_elements(const Network& network) {
  return network.config().kv_heads * network.config().head_size;
}

std::vector<bf16> downloaded(const Network& network, const bf16* from, std::size_t elements) {
  std::vector<bf16> values(elements);
  if (elements > 0) network.backend().download(values.data(), from, elements * sizeof(bf16));
  return values;
}

// The first of `rows` rows that differs; `rows` if none does.
std::size_t first_difference(const std::vector<bf16>& a, const std::vector<bf16>& b,
                             std::size_t rows) {
  const std::size_t row_bytes = rows == 0 ? 0 : a.size() / rows * sizeof(bf16);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t at = row * row_bytes / sizeof(bf16);
    if (std::memcmp(a.data() + at, b.data() + at, row_bytes) != 0) return row;
  }
  return rows;
}

std::string describe(const RowOrigin& origin) {
  constexpr const char* kWriters[] = {"nobody", "prefill", "decode"};
  return fmt::format("{} [{}, {})", kWriters[static_cast<std::size_t>(origin.writer)],
                     origin.launch_begin, origin.launch_begin + origin.launch_rows);
}

std::string describe(const Engine& lane, const Engine& cold, std::size_t row) {
  return fmt::format("{} here, {} cold", describe(lane.lane().state.origin(row)),
                     describe(cold.lane().state.origin(row)));
}

bool same(const RowOrigin& a, const RowOrigin& b) {
  return a.writer == b.writer && a.launch_begin == b.launch_begin && a.launch_rows == b.launch_rows;
}

}  // namespace

std::string proof_backend() {
  const char* name = std::getenv("PROOF_BACKEND");
  return name == nullptr ? "cpu" : name;
}

ProofModel& shared_model(const std::string& preset) {
  static std::map<std::string, ProofModel> models;
  return models.try_emplace(preset, false, preset).first->second;
}

std::optional<std::string> row_difference(const Engine& lane, const Engine& cold,
                                          std::size_t rows) {
  const Network& network = lane.lane().network;
  const std::size_t elements = row_elements(network);
  std::size_t row = rows, layer = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const kernels::KvRows a = lane.lane().state.kv(i), b = cold.lane().state.kv(i);
    for (const auto& [x, y] : {std::pair{a.k, b.k}, std::pair{a.v, b.v}}) {
      const std::size_t differs = first_difference(downloaded(network, x, rows * elements),
                                                   downloaded(network, y, rows * elements), rows);
      if (differs < row) row = differs, layer = i;
    }
  }
  if (row == rows) return std::nullopt;
  return fmt::format("row {}, layer {}: {}", row, layer, describe(lane, cold, row));
}

std::optional<std::string> origin_difference(const Engine& lane, const Engine& cold,
                                             std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    if (!same(lane.lane().state.origin(row), cold.lane().state.origin(row)))
      return fmt::format("row {} was written by {}", row, describe(lane, cold, row));
  }
  return std::nullopt;
}

std::vector<std::uint16_t> ring_row(const Engine& engine, std::size_t position) {
  const Network& network = engine.lane().network;
  const kernels::KvRows ring = engine.lane().state.ring();
  const std::size_t elements = row_elements(network);
  std::vector<std::uint16_t> bits;
  for (const bf16* rows : {ring.k, ring.v}) {
    for (const bf16 value : downloaded(network, rows + position % ring.slots * elements, elements))
      bits.push_back(value.bits);
  }
  return bits;
}

std::optional<std::string> ring_difference(const Engine& lane, const Engine& cold, Rows rows) {
  for (std::size_t position = rows.begin; position < rows.end; ++position) {
    if (ring_row(lane, position) != ring_row(cold, position))
      return fmt::format("drafter row {} differs", position);
  }
  return std::nullopt;
}

std::optional<std::string> ring_poison(const Engine& lane, Rows rows) {
  for (std::size_t position = rows.begin; position < rows.end; ++position) {
    for (const std::uint16_t bits : ring_row(lane, position)) {
      if ((bits & 0x7fffu) > 0x7f80u) return fmt::format("drafter row {} is poisoned", position);
    }
  }
  return std::nullopt;
}

void poison_all_but(const Engine& engine, std::size_t kept, Rows ring) {
  const State& state = engine.lane().state;
  const Network& network = engine.lane().network;
  poison_rows(engine, kept, state.shape().context);
  const std::size_t scratch_rows = 1 + std::max(state.shape().prompt_rows, kMaxDecodeRows);
  const std::vector<float> hidden(scratch_rows * network.config().hidden, std::nanf(""));
  network.backend().upload(state.hidden(0), hidden.data(), hidden.size() * sizeof(float));
  if (!network.mtp) return;
  const kernels::KvRows rows = state.ring();
  std::vector<bool> keeps(rows.slots);
  for (std::size_t position = ring.begin; position < ring.end; ++position)
    keeps[position % rows.slots] = true;
  for (std::size_t slot = 0; slot < rows.slots; ++slot) {
    if (!keeps[slot]) poison_slots(network, rows, slot, slot + 1);
  }
}

}  // namespace engine::runtime::testing
