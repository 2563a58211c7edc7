// What model families add: tanh and GELU against the C library, LayerNorm against double precision,
// scaled rotary frequencies against the published formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "numerics/activation.h"
#include "numerics/attention.h"
#include "numerics/norm.h"
#include "numerics/rotary_scaling.h"

namespace engine::numerics {
namespace {

TEST(Tanh, IsCloseEverywhereAndOdd) {
  for (int i = -400'000; i <= 400'000; ++i) {
    const float x = static_cast<float>(i) * 2.5e-5f;
    const double truth = std::tanh(static_cast<double>(x));
    ASSERT_NEAR(tanh(x), truth, 3e-7 * std::abs(truth)) << x;
    ASSERT_EQ(float_bits(tanh(-x)), float_bits(-tanh(x))) << x;
  }
}

TEST(Tanh, Ends) {
  EXPECT_EQ(tanh(100.0f), 1.0f);
  EXPECT_EQ(tanh(-INFINITY), -1.0f);
  EXPECT_EQ(float_bits(tanh(-0.0f)), 0x80000000u);
  EXPECT_EQ(tanh(1e-30f), 1e-30f);
  EXPECT_TRUE(std::isnan(tanh(NAN)));
}

TEST(Gelu, IsTheFormWithTanh) {
  for (int i = -100'000; i <= 100'000; ++i) {
    const float x = static_cast<float>(i) * 1e-4f;
    const double d = x, inner = std::sqrt(2.0 / M_PI) * (d + 0.044715 * d * d * d);
    ASSERT_NEAR(gelu(x), 0.5 * d * (1.0 + std::tanh(inner)), 4e-7 * std::max(1.0, std::abs(d)));
  }
}

TEST(Norm, LayerNormIsThatOfDoublePrecision) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(3.0f, 2.0f);
  std::vector<float> x(500);
  for (float& value : x)
    value = normal(random);
  double mean = 0, variance = 0;
  for (const float value : x)
    mean += value / 500.0;
  for (const float value : x)
    variance += (value - mean) * (value - mean) / 500.0;
  const RowStatistics row = row_statistics<NormKind::kLayer>(x.data(), x.size(), 1e-5f);
  EXPECT_NEAR(row.mean, mean, 1e-6);
  EXPECT_NEAR(row.scale, 1 / std::sqrt(variance + 1e-5), 1e-6);
  const bf16 w = from_float(1.5f), b = from_float(-0.25f);
  EXPECT_NEAR(norm_apply<NormKind::kLayer>(x[7], row, w, b),
              (x[7] - mean) / std::sqrt(variance + 1e-5) * 1.5 - 0.25, 1e-5);
  EXPECT_EQ(norm_apply<NormKind::kRmsPlusOne>(2.0f, {0, 0.5f}, b, b), 0.75f);
}

TEST(ScoreMap, CapsAsWritten) {
  const ScoreMap plain = score_map(score_scale(64), 0);
  EXPECT_EQ(plain.scale, score_scale(64));
  EXPECT_EQ(plain.inner, 0.0f);
  const ScoreMap capped = score_map(score_scale(64), 50);
  const double s = 321.0, truth = 50 * std::tanh(s / 8 / 50) / std::log(2.0);
  EXPECT_NEAR(tanh(static_cast<float>(s) * capped.inner) * capped.scale, truth, 1e-5 * truth);
}

// As Hugging Face's modeling_rope_utils.py computes them, in double precision.
TEST(RotaryScaling, Linear) {
  RotarySpec spec{.size = 64, .theta = 1e6, .scaling = RotaryScaling::kLinear, .factor = 8};
  EXPECT_NEAR(rotary_frequencies(spec)[3], std::pow(1e6, -6.0 / 64) / 8, 1e-15);
}

TEST(RotaryScaling, Llama3KeepsShortWavesAndStretchesLongOnes) {
  const RotarySpec spec{.size = 128,
                        .theta = 500000,
                        .scaling = RotaryScaling::kLlama3,
                        .factor = 8,
                        .original_positions = 8192,
                        .low = 1,
                        .high = 4};
  const std::vector<double> got = rotary_frequencies(spec);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double plain = std::pow(500000.0, -static_cast<double>(i) / 64);
    const double wave = 2 * M_PI / plain;
    double expected = plain;
    if (wave > 8192.0 / 1) {
      expected = plain / 8;
    } else if (wave >= 8192.0 / 4) {
      const double smooth = (8192 / wave - 1) / 3;
      expected = (1 - smooth) * plain / 8 + smooth * plain;
    }
    EXPECT_NEAR(got[i], expected, 1e-14 * expected) << i;
  }
}

TEST(RotaryScaling, Yarn) {
  const RotarySpec spec{.size = 128,
                        .theta = 1e6,
                        .scaling = RotaryScaling::kYarn,
                        .factor = 4,
                        .original_positions = 32768,
                        .attention_factor = yarn_attention_factor(4)};
  EXPECT_NEAR(spec.attention_factor, 0.1 * std::log(4.0) + 1, 1e-15);
  const auto dimension = [](double turns) {
    return 128 * std::log(32768 / (turns * 2 * M_PI)) / (2 * std::log(1e6));
  };
  const double low = std::floor(dimension(32)), high = std::ceil(dimension(1));
  const std::vector<double> got = rotary_frequencies(spec);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double plain = std::pow(1e6, -static_cast<double>(i) / 64);
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    const double expected = plain / 4 * ramp + plain * (1 - ramp);
    EXPECT_NEAR(got[i], expected, 1e-13 * expected) << i;
  }
  const RotaryAngles angles = rotary_angles(10, spec);
  EXPECT_NEAR(angles.cosine[9 * 64], spec.attention_factor * std::cos(9.0), 1e-6);
}

}  // namespace
}  // namespace engine::numerics
