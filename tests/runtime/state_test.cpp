#include "runtime/state.h"

#include <gtest/gtest.h>

#include "runtime/poison.h"
#include "runtime/test_network.h"

namespace engine::runtime {
namespace {

using testing::loaded;

TEST(State, KeepsEachLayersRowsApart) {
  State state(loaded().network, {.context = 32, .prompt_rows = 16, .ring_rows = 48});
  testing::poison_rows(loaded().network, state, 3, 5);
  for (std::size_t layer = 0; layer < loaded().network.layers.size(); ++layer) {
    for (std::size_t position = 0; position < 32; ++position) {
      const std::uint16_t expected = position == 3 || position == 4 ? testing::kNaN.bits : 0;
      for (const kernels::bf16 value : state.read_row(layer, position))
        ASSERT_EQ(value.bits, expected);
    }
  }
}

// The accessor names every tensor of a layer, and in the order of read_row: each byte of a row is
// reached through it.
TEST(State, KeepsARowInAllTensorsOfItsLayer) {
  State state(loaded().network, {.context = 32, .prompt_rows = 16, .ring_rows = 48});
  kernels::Backend& backend = loaded().network.backend();
  std::vector<kernels::bf16> expected;
  for (const KeptTensor& tensor : state.kept(1)) {
    EXPECT_EQ(tensor.slots, 32u);
    std::vector<kernels::bf16> row(tensor.row_bytes / sizeof(kernels::bf16));
    for (kernels::bf16& value : row)
      value.bits = static_cast<std::uint16_t>(1 + expected.size() + (&value - row.data()));
    backend.upload(tensor.data + 7 * tensor.row_bytes, row.data(), tensor.row_bytes);
    expected.insert(expected.end(), row.begin(), row.end());
  }
  const std::vector<kernels::bf16> row = state.read_row(1, 7);
  ASSERT_EQ(row.size(), 2 * loaded().network.config().kv_width());
  for (std::size_t i = 0; i < row.size(); ++i)
    ASSERT_EQ(row[i].bits, expected[i].bits) << i;
  for (const KeptTensor& tensor : state.kept_ring())
    EXPECT_EQ(tensor.slots, 48u);
}

// Latents of every layer, index keys of those that choose; the ring has none. All die together.
TEST(State, KeepsIndexKeysWithTheLatentsOfTheirPosition) {
  const Network& network = loaded("glm5-mini").network;
  const model::LatentConfig& l = network.config().latent;
  State state(network, {.context = 32, .prompt_rows = 16, .ring_rows = 48});
  const std::size_t latent = (l.size + l.rotated) * sizeof(kernels::bf16);
  for (std::size_t layer = 0; layer < network.layers.size(); ++layer) {
    const std::vector<KeptTensor> kept = state.kept(layer);
    ASSERT_EQ(kept.size(), layer == 3 ? 1u : 2u);
    EXPECT_EQ(kept[0].row_bytes, latent);
    if (layer != 3) {
      EXPECT_EQ(kept[1].row_bytes, l.index_size * sizeof(kernels::bf16));
    }
  }
  ASSERT_EQ(state.kept_ring().size(), 1u);
  EXPECT_EQ(state.kept_ring()[0].row_bytes, latent);
  testing::poison_rows(network, state, 3, 5);
  for (std::size_t layer = 0; layer < network.layers.size(); ++layer) {
    for (std::size_t position = 0; position < 32; ++position) {
      const std::uint16_t expected = position == 3 || position == 4 ? testing::kNaN.bits : 0;
      for (const kernels::bf16 value : state.read_row(layer, position))
        ASSERT_EQ(value.bits, expected) << layer << " " << position;
    }
  }
}

TEST(State, RemembersWhoWroteARow) {
  State state(loaded().network, {.context = 32, .prompt_rows = 16, .ring_rows = 48});
  EXPECT_EQ(state.origin(0).writer, Writer::kNone);
  state.note_rows(4, 3, Writer::kPrefill);
  state.note_rows(6, 1, Writer::kDecode);
  EXPECT_EQ(state.origin(5).writer, Writer::kPrefill);
  EXPECT_EQ(state.origin(5).launch_begin, 4u);
  EXPECT_EQ(state.origin(5).launch_rows, 3u);
  EXPECT_EQ(state.origin(6).writer, Writer::kDecode);
  EXPECT_EQ(state.origin(7).writer, Writer::kNone);
}

TEST(State, GrowsByTheRowsItHolds) {
  const Network& network = loaded().network;
  const std::size_t small =
      State::bytes(network, {.context = 1024, .prompt_rows = 64, .ring_rows = 128});
  const std::size_t large =
      State::bytes(network, {.context = 2048, .prompt_rows = 64, .ring_rows = 128});
  const model::ModelConfig& c = network.config();
  const State state(network, {.context = 32, .prompt_rows = 16, .ring_rows = 48});
  std::size_t row = 0;
  for (std::size_t layer = 0; layer < c.layers; ++layer) {
    for (const KeptTensor& tensor : state.kept(layer))
      row += tensor.row_bytes;
  }
  EXPECT_GE(large - small, 1024 * row);
  EXPECT_LE(large - small, 1024 * row + 64 * c.hidden * sizeof(float) + 4096);
}

}  // namespace
}  // namespace engine::runtime
