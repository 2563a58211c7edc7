// The project's exponentials against libm in double precision.
#include "numerics/exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace engine::numerics {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Exp, IsWithinTwoTenMillionths) {
  for (int i = -87 * 2048; i <= 88 * 2048; ++i) {
    const float x = static_cast<float>(i) * 0x1p-11f;
    const double exact = std::exp(static_cast<double>(x));
    ASSERT_LT(std::abs(exp(x) - exact), 2e-7 * exact) << "at " << x;
  }
}

TEST(Exp, EndsAreDefined) {
  EXPECT_EQ(exp(0.0f), 1.0f);
  EXPECT_EQ(exp(-87.0001f), 0.0f);
  EXPECT_EQ(exp(-kInfinity), 0.0f);
  EXPECT_EQ(exp(88.0001f), kInfinity);
  EXPECT_EQ(exp(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(exp(std::nanf(""))));
}

TEST(SoftmaxExp2, IsWithinFourMillionths) {
  for (int i = -126 * 4096; i <= 4096; ++i) {
    const float t = static_cast<float>(i) * 0x1p-12f;
    const double exact = std::exp2(static_cast<double>(t));
    ASSERT_LT(std::abs(softmax_exp2(t) - exact), 4e-6 * exact) << "at " << t;
  }
}

TEST(SoftmaxExp2, FallsToExactlyZero) {
  EXPECT_EQ(softmax_exp2(0.0f), 1.0f);
  EXPECT_EQ(float_bits(softmax_exp2(-127.0f)), 0u);
  EXPECT_EQ(float_bits(softmax_exp2(-1e38f)), 0u);
  EXPECT_EQ(float_bits(softmax_exp2(-kInfinity)), 0u);
  float above = softmax_exp2(-126.0f);
  for (int i = 0; i <= 1024; ++i) {
    const float t = -126.0f - static_cast<float>(i) * 0x1p-10f;
    const float value = softmax_exp2(t);
    ASSERT_LE(value, above) << "at " << t;
    ASSERT_GE(value, 0.0f);
    above = value;
  }
}

TEST(Silu, FollowsItsDefinition) {
  for (int i = -2500; i < 2500; ++i) {
    const float x = static_cast<float>(i) * 0.036f;
    const double exact = x / (1.0 + std::exp(-static_cast<double>(x)));
    ASSERT_NEAR(silu(x), exact, 4e-7 * std::abs(exact) + 1e-35) << "at " << x;
  }
}

// Worked out in exact rational arithmetic, rounded after each operation.
TEST(Exp, KnownBits) {
  EXPECT_EQ(float_bits(exp(1.0f)), 0x402df855u);
  EXPECT_EQ(float_bits(exp(-10.5f)), 0x37e6fe12u);
  EXPECT_EQ(float_bits(exp(43.21f)), 0x5ea1e34eu);
  EXPECT_EQ(float_bits(softmax_exp2(-0.3f)), 0x3f4fefc9u);
  EXPECT_EQ(float_bits(softmax_exp2(-33.7f)), 0x2e9d962cu);
  EXPECT_EQ(float_bits(softmax_exp2(-126.4f)), 0x004202d0u);
}

}  // namespace
}  // namespace engine::numerics
