#include "proof/cold_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

namespace engine::runtime::testing {
namespace {

// The first `rows` rows of a tensor.
std::vector<std::byte> downloaded(const Network& network, const KeptTensor& tensor,
                                  std::size_t rows) {
  std::vector<std::byte> bytes(rows * tensor.row_bytes);
  if (rows > 0) network.backend().download(bytes.data(), tensor.data, bytes.size());
  return bytes;
}

// The first of `rows` rows that differs; `rows` if none does.
std::size_t first_difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                             std::size_t rows) {
  const std::size_t row_bytes = rows == 0 ? 0 : a.size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    if (std::memcmp(&a[row * row_bytes], &b[row * row_bytes], row_bytes) != 0) return row;
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
  std::size_t row = rows, layer = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const std::vector<KeptTensor> a = lane.lane().state.kept(i), b = cold.lane().state.kept(i);
    for (std::size_t tensor = 0; tensor < a.size(); ++tensor) {
      const std::size_t differs =
          first_difference(downloaded(network, a[tensor], rows),
                           downloaded(cold.lane().network, b[tensor], rows), rows);
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
  std::vector<std::uint16_t> bits;
  for (const KeptTensor& tensor : engine.lane().state.kept_ring()) {
    const std::size_t before = bits.size();
    bits.resize(before + tensor.row_bytes / sizeof(std::uint16_t));
    engine.lane().network.backend().download(
        bits.data() + before, tensor.data + position % tensor.slots * tensor.row_bytes,
        tensor.row_bytes);
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
  std::vector<bool> keeps(state.shape().ring_rows);
  for (std::size_t position = ring.begin; position < ring.end; ++position)
    keeps[position % keeps.size()] = true;
  for (std::size_t slot = 0; slot < keeps.size(); ++slot) {
    if (!keeps[slot]) poison_slots(network, state.kept_ring(), slot, slot + 1);
  }
}

}  // namespace engine::runtime::testing
