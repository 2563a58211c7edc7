// The reference of the matrix unit against outputs read off an H200.
#include "numerics/fused16.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

namespace engine::numerics {
namespace {

struct GoldenVector {
  bf16 a[16], b[16];
  float c, d;
};
static_assert(sizeof(GoldenVector) == 72);

std::vector<GoldenVector> golden_vectors() {
  std::ifstream file(TEST_DATA_DIR "/mma_bf16_h200.bin", std::ios::binary);
  std::vector<GoldenVector> vectors;
  GoldenVector next;
  while (file.read(reinterpret_cast<char*>(&next), sizeof next))
    vectors.push_back(next);
  return vectors;
}

TEST(Fused16, EqualsTheHardware) {
  const auto vectors = golden_vectors();
  ASSERT_EQ(vectors.size(), 9216u);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const GoldenVector& v = vectors[i];
    ASSERT_EQ(float_bits(fused16(v.c, v.a, v.b)), float_bits(v.d)) << "vector " << i;
  }
}

struct Terms {
  bf16 a[16] = {}, b[16] = {};
};
Terms one_product(float a, float b) {
  Terms t;
  t.a[0] = from_float(a);
  t.b[0] = from_float(b);
  return t;
}

TEST(Fused16, ZeroSumIsPositive) {
  const Terms none = one_product(0.0f, 0.0f);
  EXPECT_EQ(float_bits(fused16(-0.0f, none.a, none.b)), 0u);
  const Terms minus_one = one_product(-1.0f, 1.0f);
  EXPECT_EQ(float_bits(fused16(1.0f, minus_one.a, minus_one.b)), 0u);
}

TEST(Fused16, CutsInsteadOfRounding) {
  // 1 + 2^-24 + 2^-25 would round up to 1 + 2^-23.
  const Terms t = one_product(0x1.8p-12f, 0x1p-12f);
  EXPECT_EQ(fused16(1.0f, t.a, t.b), 1.0f);
  // -1 + 2^-24: the aligned sum is just above -1 and is cut toward zero.
  const Terms up = one_product(0x1p-12f, 0x1p-12f);
  EXPECT_EQ(fused16(-1.0f, up.a, up.b), -0x1.fffffep-1f);
}

TEST(Fused16, KeepsTwentyFiveBitsBelowTheLargestTerm) {
  Terms t;
  for (int i = 0; i < 16; ++i)
    t.a[i] = t.b[i] = from_float(0x1p-13f);
  // Sixteen products of 2^-26 against 1: each alone is cut, although together they are 2^-22.
  EXPECT_EQ(fused16(1.0f, t.a, t.b), 1.0f);
  for (int i = 0; i < 16; ++i)
    t.a[i] = from_float(0x1p-12f);
  EXPECT_EQ(fused16(1.0f, t.a, t.b), 1.0f + 0x1p-21f);
}

TEST(Fused16, Specials) {
  const float inf = std::numeric_limits<float>::infinity();
  const Terms up = one_product(inf, 1.0f);
  EXPECT_EQ(fused16(0.0f, up.a, up.b), inf);
  EXPECT_EQ(float_bits(fused16(-inf, up.a, up.b)), 0x7fffffffu);
  const Terms undefined = one_product(inf, 0.0f);
  EXPECT_EQ(float_bits(fused16(0.0f, undefined.a, undefined.b)), 0x7fffffffu);
  const Terms huge = one_product(0x1p127f, 4.0f);
  EXPECT_EQ(fused16(0.0f, huge.a, huge.b), inf);
}

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(from_float(bits_float(0x3f808000u)).bits, 0x3f80);  // tie, even below
  EXPECT_EQ(from_float(bits_float(0x3f818000u)).bits, 0x3f82);  // tie, even above
  EXPECT_EQ(from_float(bits_float(0x3f808001u)).bits, 0x3f81);
  EXPECT_EQ(from_float(bits_float(0x7f7fffffu)).bits, 0x7f80);  // beyond the largest
  EXPECT_EQ(from_float(bits_float(0xff800001u)).bits, 0x7fff);  // any NaN
  for (std::uint32_t bits = 0; bits < 0x7f80; ++bits) {
    ASSERT_EQ(from_float(to_float({static_cast<std::uint16_t>(bits)})).bits, bits);
  }
}

}  // namespace
}  // namespace engine::numerics
