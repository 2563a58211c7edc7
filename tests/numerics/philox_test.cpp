// Known answers of Random123's kat_vectors file for philox4x32-10.
#include "numerics/philox.h"

#include <gtest/gtest.h>

namespace engine::numerics {
namespace {

TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformIsSpreadOverTheUnitInterval) {
  double sum = 0.0;
  for (std::uint64_t position = 0; position < 10000; ++position) {
    const float u = uniform(42, position);
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    sum += u;
  }
  // Standard deviation of the mean: sqrt(1/12 / 10000) = 0.0029; five of them.
  EXPECT_NEAR(sum / 10000, 0.5, 0.0145);
}

TEST(Philox, DependsOnSeedAndPositionOnly) {
  EXPECT_EQ(uniform(7, 100), uniform(7, 100));
  EXPECT_NE(uniform(7, 100), uniform(7, 101));
  EXPECT_NE(uniform(7, 100), uniform(8, 100));
  EXPECT_NE(uniform(7, 100), uniform(7 + (std::uint64_t{1} << 32), 100));
}

}  // namespace
}  // namespace engine::numerics
