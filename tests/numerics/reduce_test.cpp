// The order of sums, with numbers for which any other order would show.
#include "numerics/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace engine::numerics {
namespace {

TEST(Reduce, LanesStride) {
  std::vector<float> x(70, 0.0f);
  x[3] = 1.0f;
  x[35] = 2.0f;
  x[67] = 3.0f;
  EXPECT_EQ(lane_square_sum(x.data(), x.size(), 3), 14.0f);
  EXPECT_EQ(lane_square_sum(x.data(), x.size(), 4), 0.0f);
}

TEST(Reduce, LanesUseOneRounding) {
  // x*x = 1 + 2^-11 + 2^-24; after adding 2^-24 (from a first element) one rounding keeps the sum.
  const std::vector<float> x = [] {
    std::vector<float> values(33, 0.0f);
    values[0] = 0x1p-12f;
    values[32] = 1.0f + 0x1p-12f;
    return values;
  }();
  EXPECT_EQ(lane_square_sum(x.data(), x.size(), 0), 1.0f + 0x1p-11f + 0x1p-23f);
}

TEST(Reduce, TreePairsDistantLanesFirst) {
  // (1e8 + 1) first loses the 1; (1e8 + -1e8) first does not.
  std::vector<float> lanes(32, 0.0f);
  lanes[0] = 1e8f;
  lanes[16] = -1e8f;
  lanes[1] = 1.0f;
  EXPECT_EQ(xor_tree(lanes.data(), 32), 1.0f);
  lanes.assign(32, 0.0f);
  lanes[0] = 1e8f;
  lanes[16] = 1.0f;
  lanes[1] = -1e8f;
  EXPECT_EQ(xor_tree(lanes.data(), 32), 0.0f);
}

TEST(Reduce, EveryLaneOfAnXorShuffleHoldsTheSameBits) {
  std::vector<float> lanes(32);
  for (int l = 0; l < 32; ++l)
    lanes[l] = std::sin(static_cast<float>(l) * 12.9f) * 1e3f;
  std::vector<float> shuffled = lanes;
  for (int step = 16; step > 0; step /= 2) {
    const std::vector<float> before = shuffled;
    for (int l = 0; l < 32; ++l)
      shuffled[l] = before[l] + before[l ^ step];
  }
  const float sum = xor_tree(lanes.data(), 32);
  for (const float lane : shuffled)
    EXPECT_EQ(float_bits(lane), float_bits(sum));
}

TEST(Reduce, ScaleIsThreeRoundings) {
  const float mean = 10.0f / 3.0f;
  EXPECT_EQ(rms_scale(10.0f, 3, 1e-5f), 1.0f / std::sqrt(mean + 1e-5f));
}

}  // namespace
}  // namespace engine::numerics
