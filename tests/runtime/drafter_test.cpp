// The drafter's ring over texts much longer than the ring.
#include "runtime/drafter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "model/safetensors.h"
#include "model/tensor_store.h"
#include "runtime/test_network.h"

namespace engine::runtime {
namespace {

using testing::random_tokens;
using testing::request_of;
using testing::SmallEngine;

SmallEngine narrow() {
  return {.prompt_rows = 16,
          .context = 640,
          .ring_rows = Drafter::smallest_ring(testing::loaded().network.config(), 16)};
}

// Drafts depend on the ring's contents; a ring that wraps many times must predict what one that
// never wraps does.
TEST(DrafterRing, WrapsWithoutATrace) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Request request = request_of(random_tokens(400 + 7 * seed, seed), 120);
    const Reply expected = SmallEngine{.prompt_rows = 16, .ring_rows = 2048}.make().run(request);
    const Reply reply = narrow().make().run(request);
    EXPECT_EQ(reply.tokens, expected.tokens);
    EXPECT_EQ(reply.stats.drafted, expected.stats.drafted);
    EXPECT_EQ(reply.stats.accepted, expected.stats.accepted);
  }
}

TEST(DrafterRing, KnowsWhichRowsItHolds) {
  Engine engine = narrow().make();
  const Request request = request_of(random_tokens(300, 1), 1);
  (void)engine.run(request);
  const Drafter& drafter = *engine.lane().drafter;
  EXPECT_EQ(drafter.end(), 299u);  // row 299 needs the token after it
  EXPECT_EQ(drafter.begin(), 299 - engine.lane().state.shape().ring_rows);
}

TEST(DrafterRing, RefusesARingThatALaunchWouldOverrun) {
  SmallEngine small = narrow();
  --small.ring_rows;
  EXPECT_THROW((void)small.make(), RequestError);
}

// A head of the drafter's own, all zero: it drafts token 0, and the reply stays as it was.
TEST(Drafter, TakesAHeadOfItsOwn) {
  const auto folder = testing::model_folder("glm4moe-mini");
  const model::TensorStore store = model::TensorStore::open(folder);
  const TempFolder changed;
  std::filesystem::copy(folder, changed.path());
  std::vector<model::TensorSource> tensors;
  for (const model::TensorView* tensor : store.tensors())
    tensors.push_back({tensor->name, tensor->dtype, tensor->shape, tensor->data});
  const model::TensorView& table = *store.find("model.embed_tokens.weight");
  const std::vector<std::byte> zeros(table.data.size());
  tensors.push_back({"model.layers.5.shared_head.head.weight", "BF16", table.shape, zeros});
  std::filesystem::remove(changed / "model.safetensors");
  model::write_safetensors(changed / "model.safetensors", tensors);
  const testing::LoadedModel own(changed.path(), {.threads = 1});
  Engine engine(own.network, {.context = 200, .prompt_rows = 64, .log = {}});
  const Request request = request_of(random_tokens(40, 1), 12);
  const Reply expected = SmallEngine{.context = 200, .preset = "glm4moe-mini"}.make().run(request);
  EXPECT_EQ(engine.run(request).tokens, expected.tokens);
  const float* logits = engine.lane().state.scratch().draft_logits;
  EXPECT_TRUE(std::all_of(logits, logits + own.model.config().vocabulary,
                          [](float logit) { return logit == 0.0f; }));
}

}  // namespace
}  // namespace engine::runtime
