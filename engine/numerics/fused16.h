// The matrix unit of NVIDIA Hopper as a formula: d = c + a[0]*b[0] + ... + a[15]*b[15].
//
// Source: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 measured on an H200 (sm_90) against
// this model on 3.1 million outputs, 0 differ; wgmma m64n8k16 gave the same bits. 9,216 outputs
// read off that card are in tests/data/mma_bf16_h200.bin.
//
//   1. A NaN input, inf * 0, or both +inf and -inf among the products and c: NaN 0x7fffffff.
//      Otherwise an infinite product or c gives that infinity.
//   2. Terms: the 16 exact products (significands of 8 x 8 bits, exponent the sum of the two
//      exponents, not renormalised) and c. A denormal counts with exponent -126 and no hidden bit.
//      Terms of significand 0 are left out.
//   3. emax is the largest exponent among the terms.
//   4. Each magnitude is aligned to emax with 25 fraction bits, the rest cut off; the signed terms
//      are summed exactly.
//   5. The sum is cut (not rounded) to a float32; below 2^-126 to a denormal; above the range it
//      is infinity. A zero sum is +0.
//
// This is the plain reference; the backends have faster ways to the same bits.
#pragma once

#include <cstddef>

#include "numerics/bf16.h"

namespace engine::numerics {

inline constexpr int kFusedLength = 16;  // products of one call

namespace detail {

struct Unpacked {
  std::uint32_t significand;  // bf16: 8 bits, 7 of them fraction; float32: 24 bits, 23 fraction
  int exponent;
  bool negative, infinite, nan;
};

ENGINE_HD inline Unpacked unpack(float x) {
  const std::uint32_t bits = float_bits(x);
  const std::uint32_t fraction = bits & 0x7fffffu;
  const int field = static_cast<int>((bits >> 23) & 0xffu);
  const bool special = field == 255;
  return {fraction | (field == 0 ? 0u : 0x800000u), field == 0 ? -126 : field - 127,
          (bits >> 31) != 0, special && fraction == 0, special && fraction != 0};
}

ENGINE_HD inline Unpacked unpack(bf16 x) {
  Unpacked u = unpack(to_float(x));
  u.significand >>= 16;
  return u;
}

// Step 1: what makes the outcome something other than a finite sum.
struct Specials {
  bool nan = false, positive_infinity = false, negative_infinity = false;

  ENGINE_HD void add_infinity(bool negative) {
    (negative ? negative_infinity : positive_infinity) = true;
  }
  ENGINE_HD void add_product(const Unpacked& a, const Unpacked& b) {
    nan |=
        a.nan || b.nan || (a.infinite && b.significand == 0) || (b.infinite && a.significand == 0);
    if (a.infinite || b.infinite) add_infinity(a.negative != b.negative);
  }
  ENGINE_HD bool any() const { return nan || positive_infinity || negative_infinity; }
  ENGINE_HD float result() const {
    if (nan || (positive_infinity && negative_infinity)) return bits_float(0x7fffffffu);
    return bits_float(negative_infinity ? 0xff800000u : 0x7f800000u);
  }
};

// Step 4 for one term whose unit in the last place is 2^(exponent - 25).
ENGINE_HD inline std::int64_t align(std::uint32_t magnitude, bool negative, int below_max) {
  const std::int64_t kept = below_max > 31 ? 0 : static_cast<std::int64_t>(magnitude >> below_max);
  return negative ? -kept : kept;
}

// Step 5: sum * 2^(emax - 25), cut.
ENGINE_HD inline float truncate_to_float(std::int64_t sum, int emax) {
  if (sum == 0) return 0.0f;
  const std::uint32_t sign = sum < 0 ? 0x80000000u : 0u;
  const std::uint64_t magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const int exponent = emax - 25 + bit_width(magnitude) - 1;
  if (exponent > 127) return bits_float(sign | 0x7f800000u);
  // The kept unit is 2^(exponent - 23), but never finer than a denormal's 2^-149.
  const int unit = (exponent < -126 ? -126 : exponent) - 23;
  const int shift = unit - (emax - 25);
  std::uint64_t significand = 0;
  if (shift < 64) significand = shift >= 0 ? magnitude >> shift : magnitude << -shift;
  const std::uint32_t fraction = static_cast<std::uint32_t>(significand) & 0x7fffffu;
  const std::uint32_t field = exponent < -126 ? 0u : static_cast<std::uint32_t>(exponent + 127);
  return bits_float(sign | (field << 23) | fraction);
}

}  // namespace detail

// a, b: 16 values each; those of b are `b_stride` elements apart.
ENGINE_HD inline float fused16(float c, const bf16* a, const bf16* b, std::size_t b_stride = 1) {
  detail::Specials specials;
  const detail::Unpacked uc = detail::unpack(c);
  specials.nan = uc.nan;
  if (uc.infinite) specials.add_infinity(uc.negative);
  int emax = uc.significand != 0 ? uc.exponent : -1000;
  for (int i = 0; i < kFusedLength; ++i) {
    const detail::Unpacked ua = detail::unpack(a[i]), ub = detail::unpack(b[i * b_stride]);
    specials.add_product(ua, ub);
    const int exponent = ua.exponent + ub.exponent;
    if (ua.significand != 0 && ub.significand != 0 && exponent > emax) emax = exponent;
  }
  if (specials.any()) return specials.result();

  // In units of 2^(exponent - 25): c has 23 fraction bits, a product has 14.
  std::int64_t sum =
      uc.significand == 0 ? 0 : detail::align(uc.significand << 2, uc.negative, emax - uc.exponent);
  for (int i = 0; i < kFusedLength; ++i) {
    const detail::Unpacked ua = detail::unpack(a[i]), ub = detail::unpack(b[i * b_stride]);
    const std::uint32_t magnitude = (ua.significand * ub.significand) << 11;
    if (magnitude == 0) continue;
    sum += detail::align(magnitude, ua.negative != ub.negative, emax - ua.exponent - ub.exponent);
  }
  return detail::truncate_to_float(sum, emax);
}

// fused16 over k ascending, 16 at a time, from the accumulator c.  REQUIRES: inner % 16 == 0.
ENGINE_HD inline float fused_chain(float c, const bf16* a, const bf16* b, std::size_t inner,
                                   std::size_t b_stride = 1) {
  for (std::size_t k = 0; k < inner; k += kFusedLength) {
    c = fused16(c, a + k, b + k * b_stride, b_stride);
  }
  return c;
}

}  // namespace engine::numerics
