// What split_k promises, over every shape a model is likely to have.
#include "numerics/split_k.h"

#include <gtest/gtest.h>

#include <bit>

namespace engine::numerics {
namespace {

template <typename Check>
void for_each_shape(const Check& check) {
  for (std::size_t K = 16; K <= 4096; K += K < 512 ? 16 : 176) {
    for (std::size_t N = 16; N <= 40000; N = N * 3 / 2) {
      for (std::size_t rows = 1; rows <= 2048; rows += rows < 70 ? 1 : 131)
        check(rows, N, K);
    }
  }
}

TEST(SplitK, DividesKIntoMultiplesOfSixteen) {
  for_each_shape([](std::size_t rows, std::size_t N, std::size_t K) {
    const std::size_t split = split_k(rows, N, K);
    ASSERT_TRUE(std::has_single_bit(split) && split <= 16);
    ASSERT_EQ(K % (16 * split), 0u) << rows << " " << N << " " << K;
    if (split > 1) {
      ASSERT_GE(K / split, 64u);
    }
  });
}

TEST(SplitK, DecodeClassHasOneSplit) {
  for_each_shape([](std::size_t rows, std::size_t N, std::size_t K) {
    if (rows <= kDecodeRows) {
      ASSERT_EQ(split_k(rows, N, K), split_k(1, N, K));
    }
    ASSERT_EQ(split_k_row_invariant(N, K), split_k(1, N, K));
  });
}

TEST(SplitK, NeverGrowsWithRows) {
  for_each_shape([](std::size_t rows, std::size_t N, std::size_t K) {
    ASSERT_LE(split_k(rows + 1, N, K), split_k(rows, N, K));
  });
}

TEST(SplitK, KnownValues) {
  EXPECT_EQ(split_k(48, 512, 512), 8u);
  EXPECT_EQ(split_k(49, 512, 512), 4u);
  EXPECT_EQ(split_k(1, 512, 64), 1u);
  EXPECT_EQ(split_k(1, 4096, 4096), 8u);
  EXPECT_EQ(split_k(32, 4096, 4096), 8u);
  EXPECT_EQ(split_k(33, 4096, 4096), 4u);
  EXPECT_EQ(split_k(128, 6144, 4096), 4u);
  EXPECT_EQ(split_k(256, 4096, 14336), 2u);
  EXPECT_EQ(split_k(512, 4096, 4096), 2u);
  EXPECT_EQ(split_k(512, 6144, 4096), 1u);
  EXPECT_EQ(split_k(1, 128256, 4096), 1u);  // the tiles of the vocabulary alone fill the card
  EXPECT_EQ(split_k(1, 512, 1040), 1u);     // 1040 = 65 * 16
}

}  // namespace
}  // namespace engine::numerics
