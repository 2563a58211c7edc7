// The project's double-precision functions against libm, and the tables made with them.
#include "numerics/rotary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace engine::numerics {
namespace {

double ulp(float x) {
  return std::nextafter(std::abs(x), std::numeric_limits<float>::infinity()) - std::abs(x);
}

TEST(Rotary, Logarithm) {
  for (int i = 0; i < 2000; ++i) {
    const double x = 1e-6 * std::pow(1.0173, i);
    ASSERT_NEAR(detail::log(x), std::log(x), 1e-15 * std::abs(std::log(x)) + 2e-16) << "at " << x;
  }
}

TEST(Rotary, Exponential) {
  for (int i = -3000; i < 3000; ++i) {
    const double x = i * 0.0137;
    ASSERT_NEAR(detail::exp(x), std::exp(x), 1e-15 * std::exp(x)) << "at " << x;
  }
}

TEST(Rotary, SineAndCosine) {
  for (int i = 0; i < 20000; ++i) {
    const double x = 0.0123 * i * std::pow(1.001, i % 10000);
    const detail::SinCos value = detail::sin_cos(x);
    ASSERT_NEAR(value.sine, std::sin(x), 4e-16) << "at " << x;
    ASSERT_NEAR(value.cosine, std::cos(x), 4e-16) << "at " << x;
  }
}

TEST(Rotary, InverseFrequencies) {
  for (const double theta : {1e4, 5e5, 1e6}) {
    for (std::size_t i = 0; i < 64; ++i) {
      const double exact = std::pow(theta, -2.0 * static_cast<double>(i) / 128.0);
      ASSERT_NEAR(inverse_frequency(theta, i, 128), exact, 1e-14 * exact);
    }
  }
  EXPECT_EQ(inverse_frequency(1e4, 0, 128), 1.0);
}

TEST(Rotary, TablesAreTheNearestFloats) {
  const std::size_t half = 32;
  const RotaryAngles angles = rotary_angles(3000, 2 * half, 1e4);
  ASSERT_EQ(angles.cosine.size(), 3000 * half);
  for (std::size_t p = 0; p < 3000; p += 7) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(p) * std::pow(1e4, -static_cast<double>(i) / half);
      const float cosine = angles.cosine[p * half + i], sine = angles.sine[p * half + i];
      // Half a unit, and a little for the angle's own error near a tie.
      ASSERT_NEAR(cosine, std::cos(angle), 0.5 * ulp(cosine) + 1e-12);
      ASSERT_NEAR(sine, std::sin(angle), 0.5 * ulp(sine) + 1e-12);
    }
  }
}

TEST(Rotary, RotationIsOneProductAndOneFma) {
  const RotatedPair pair = rotate(1.5f, -2.25f, 0.8f, 0.6f);
  EXPECT_EQ(pair.first, std::fma(1.5f, 0.8f, 2.25f * 0.6f));
  EXPECT_EQ(pair.second, std::fma(-2.25f, 0.8f, 1.5f * 0.6f));
}

}  // namespace
}  // namespace engine::numerics
