// The drafter's ring over texts much longer than the ring.
#include "runtime/drafter.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace engine::runtime
