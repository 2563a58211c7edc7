// Rotary position tables, made once on the host in double precision by the project's own
// elementary functions, so that no machine's libm reaches the bits.
//
// Angle i of position p is p * theta^(-2i / rotary_size) (Su et al., "RoFormer", 2021; the
// half-split pairing of GPT-NeoX). The functions below use + - * / and fma only; each is within a
// few units of 1e-16 of the true value on the range it is used for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "numerics/bits.h"

namespace engine::numerics {

namespace detail {

// Natural logarithm of a finite normal x > 0: 2 atanh((m-1)/(m+1)) + e ln2 with m in [0.7, 1.42).
inline double log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int e = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++e;
  }
  const double z = (m - 1.0) / (m + 1.0), z2 = z * z;
  double series = 0.0;  // 1/3 + z2/5 + z2^2/7 + ...; |z| < 0.172, so 12 terms reach 1e-19
  for (int k = 25; k >= 3; k -= 2)
    series = fma(series, z2, 1.0 / k);
  const double fraction = fma(2.0 * z * z2, series, 2.0 * z);
  return fma(static_cast<double>(e), 0.6931471805599453, fraction);
}

// e^x for |x| < 700.
inline double exp(double x) {
  const double scaled = x * 1.4426950408889634;
  const auto n = static_cast<std::int64_t>(scaled + (scaled < 0 ? -0.5 : 0.5));
  double r = fma(static_cast<double>(-n), 0.6931471805599453, x);
  r = fma(static_cast<double>(-n), 2.3190468138462996e-17, r);
  double p = 1.0;  // Taylor, Horner: 1 + r/1 (1 + r/2 (1 + ...)); |r| < 0.35, 18 terms
  for (int k = 18; k >= 1; --k)
    p = fma(p, r / k, 1.0);
  return p * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

struct SinCos {
  double sine, cosine;
};

// For 0 <= x < 2^30: reduction by pi/2 in two parts, then Taylor on |r| <= pi/4.
inline SinCos sin_cos(double x) {
  const double quadrants = x * 0.6366197723675814;
  auto n = static_cast<std::int64_t>(quadrants);
  if (quadrants - static_cast<double>(n) >= 0.5) ++n;
  double r = fma(static_cast<double>(-n), 1.5707963267948966, x);
  r = fma(static_cast<double>(-n), 6.123233995736766e-17, r);
  const double r2 = r * r;
  double s = 1.0, c = 1.0;
  for (int k = 20; k >= 2; k -= 2)
    s = fma(s, -r2 / (k * (k + 1)), 1.0);
  for (int k = 19; k >= 1; k -= 2)
    c = fma(c, -r2 / (k * (k + 1)), 1.0);
  s *= r;
  switch (n & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

}  // namespace detail

// theta^(-2i / rotary_size).
inline double inverse_frequency(double theta, std::size_t i, std::size_t rotary_size) {
  const double power = -2.0 * static_cast<double>(i) / static_cast<double>(rotary_size);
  return detail::exp(power * detail::log(theta));
}

struct RotaryAngles {
  std::vector<float> cosine, sine;  // [positions, rotary_size/2]
};

// Angle i of position p is p * frequencies[i]; sines and cosines are multiplied by `factor` in
// double precision, then rounded once.
inline RotaryAngles rotary_angles(std::size_t positions, const std::vector<double>& frequencies,
                                  double factor) {
  const std::size_t half = frequencies.size();
  RotaryAngles angles{std::vector<float>(positions * half), std::vector<float>(positions * half)};
  for (std::size_t i = 0; i < half; ++i) {
    for (std::size_t p = 0; p < positions; ++p) {
      const detail::SinCos value = detail::sin_cos(static_cast<double>(p) * frequencies[i]);
      angles.cosine[p * half + i] = static_cast<float>(factor * value.cosine);
      angles.sine[p * half + i] = static_cast<float>(factor * value.sine);
    }
  }
  return angles;
}

// Without scaling. REQUIRES: rotary_size even, theta > 0.
inline RotaryAngles rotary_angles(std::size_t positions, std::size_t rotary_size, double theta) {
  std::vector<double> frequencies(rotary_size / 2);
  for (std::size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] = inverse_frequency(theta, i, rotary_size);
  return rotary_angles(positions, frequencies, 1.0);
}

// One rotated pair: dimension i of the first half with dimension i + half, or, interleaved,
// dimension 2i with 2i + 1. Each output is a product rounded once, then an fma.
struct RotatedPair {
  float first, second;
};
ENGINE_HD inline RotatedPair rotate(float first, float second, float cosine, float sine) {
  return {fma(first, cosine, -(second * sine)), fma(second, cosine, first * sine)};
}

}  // namespace engine::numerics
