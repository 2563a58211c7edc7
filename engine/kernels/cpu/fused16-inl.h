// fused16 (numerics/fused16.h) for input rows and 32 outputs at once, once per instruction set.
//
// The alignment of a term, "25 fraction bits below emax, the rest cut", is a float product and a
// truncating conversion: a * b is exact in float32 (8 x 8 significand bits); adding 25 - emax to
// its exponent field scales it; float -> int32 conversion cuts toward zero, sign applied after. The
// 16 terms fit an int32: 16 * 255 * 255 * 2^11 < 2^31.
//
// That holds for plain operands (decoded.h) and -100 <= emax <= 25: a zero, or a product so small
// that float32 keeps it as a denormal, stays below 1 when scaled, and no field leaves its 8 bits.
// Other lanes are rare and take the scalar reference.
//
// Included by a .cpp that is compiled for each target through hwy/foreach_target.h.
#if defined(ENGINE_KERNELS_CPU_FUSED16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENGINE_KERNELS_CPU_FUSED16_INL_H_
#undef ENGINE_KERNELS_CPU_FUSED16_INL_H_
#else
#define ENGINE_KERNELS_CPU_FUSED16_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/decode-inl.h"
#include "numerics/fused16.h"

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

inline constexpr int kBias = 127;  // of a float's exponent field
inline constexpr int kLowestField = kBias - 100, kHighestField = kBias + 25;

// Vectors of one row's outputs, and rows, whose sums stay in registers together.
inline constexpr std::size_t kLanes = hn::MaxLanes(DF());
inline constexpr std::size_t kVectors = std::min<std::size_t>(4, kPanel / kLanes);
inline constexpr std::size_t kColumns = kVectors * kLanes;
inline constexpr std::size_t kRowsTogether = kVectors <= 2 ? 2 : 1;

// Largest exponents of two rows' products, [row, output].
struct alignas(64) PairExponents {
  std::int16_t largest[2][kPanel];
};

#if HWY_TARGET == HWY_SCALAR

inline void find_largest(PairExponents& out, const DecodedRow& a, const DecodedRow& b,
                         const DecodedGroup& w) {
  const DecodedRow* rows[] = {&a, &b};
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t n = 0; n < kPanel; ++n) {
      int largest = kZeroExponent;
      for (std::size_t k = 0; k < kGroup; ++k)
        largest = std::max(largest, rows[r]->exponents[k] + w.exponents[k][2 * n]);
      out.largest[r][n] = static_cast<std::int16_t>(std::min(largest, 127));
    }
  }
}

#else

// Two rows share a pass: the bytes of a vector are theirs in turn, over each weight twice.
HWY_INLINE void find_largest(PairExponents& out, const DecodedRow& a, const DecodedRow& b,
                             const DecodedGroup& w) {
  const DU du;
  const hn::Rebind<std::uint8_t, DU> du8;
  HWY_ALIGN std::uint32_t pairs[kGroup];
  for (std::size_t k = 0; k < kGroup; k += hn::Lanes(du)) {
    const auto bytes = [&](const DecodedRow& row) HWY_ATTR {
      return hn::PromoteTo(
          du, hn::LoadU(du8, reinterpret_cast<const std::uint8_t*>(row.exponents + k)));
    };
    const auto pair = hn::Or(bytes(a), hn::ShiftLeft<8>(bytes(b)));
    hn::Store(hn::Or(pair, hn::ShiftLeft<16>(pair)), du, pairs + k);
  }
  const hn::ScalableTag<std::int8_t> d8;
  const D16 d16;
  for (std::size_t n = 0; n < kPanel; n += hn::Lanes(d16)) {
    auto largest = hn::Set(d8, kZeroExponent);
    // Not unrolled whole, nor is the loop over products: g++ then keeps broadcast values and spills
    // them.
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kGroup; ++k) {
      const auto x = hn::BitCast(d8, hn::Set(du, pairs[k]));
      largest = hn::Max(largest, hn::SaturatedAdd(x, hn::Load(d8, w.exponents[k] + 2 * n)));
    }
    const auto both = hn::BitCast(d16, largest);
    hn::Store(hn::ShiftRight<8>(hn::ShiftLeft<8>(both)), d16, out.largest[0] + n);
    hn::Store(hn::ShiftRight<8>(both), d16, out.largest[1] + n);
  }
}

#endif

// Truncating conversion; lanes out of range hold anything. Highway's ConvertTo spends two more
// instructions on those lanes.
HWY_INLINE VI truncate(VF x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  using Raw = decltype(VI().raw);
  typedef std::int32_t Ints __attribute__((vector_size(sizeof(Raw))));
  typedef float Floats __attribute__((vector_size(sizeof(Raw))));
  return VI{reinterpret_cast<Raw>(__builtin_convertvector(reinterpret_cast<Floats>(x.raw), Ints))};
#else
  return hn::ConvertTo(DI(), x);
#endif
}

// How far one vector of outputs is scaled. A negative `wrong` marks a lane outside of the limits.
struct Scaling {
  VI shift;  // (25 - emax) << 23
  VI wrong;

  HWY_INLINE VI scaled(VF x) const {
    const DF df;
    return truncate(hn::BitCast(df, hn::Add(hn::BitCast(DI(), x), shift)));
  }
};

HWY_INLINE Scaling scaling_of(const std::int16_t* largest, const float* c) {
  const DF df;
  const DI di;
  const hn::Rebind<std::int16_t, DI> d16_half;
  const VI twice = hn::ShiftLeft<1>(hn::BitCast(di, hn::Load(df, c)));
  const VI field = hn::BitCast(di, hn::ShiftRight<24>(hn::BitCast(DU(), twice)));
  const VI products = hn::Add(hn::PromoteTo(di, hn::LoadU(d16_half, largest)), hn::Set(di, kBias));
  const VI emax = hn::Max(products, field);
  const VI below_highest = hn::Sub(hn::Set(di, kHighestField), emax);
  const VI above_lowest = hn::Sub(emax, hn::Set(di, kLowestField));
  return {hn::ShiftLeft<23>(below_highest), hn::Or(below_highest, above_lowest)};
}

// The sum of the scaled products and c, as a float cut to 24 bits. Marks lanes whose sum may have
// left int32: products reach 2^31 - 2^24, c adds 2^26.
HWY_INLINE VF cut_sum(VI products, Scaling& scaling, const float* c) {
  const DF df;
  const DI di;
  const VI sum = hn::Add(products, scaling.scaled(hn::Load(df, c)));
  const VI magnitude = hn::Abs(sum);
  scaling.wrong = hn::Or(scaling.wrong, hn::Add(magnitude, hn::Set(di, 1 << 26)));
  // Of the bits that float32 does not keep, the highest is cleared: rounding to nearest then cuts.
  const VI kept = hn::AndNot(hn::ShiftRight<24>(magnitude), magnitude);
  const VF unit = hn::BitCast(df, hn::Sub(hn::Set(di, kBias << 23), scaling.shift));
  return hn::CopySignToAbs(hn::Mul(hn::ConvertTo(df, kept), unit), hn::BitCast(df, sum));
}

// The scalar reference for one output.
inline HWY_NOINLINE float scalar_lane(float c, const DecodedRow& x, const DecodedGroup& w,
                                      std::size_t n) {
  bf16 a[kGroup], b[kGroup];
  for (std::size_t k = 0; k < kGroup; ++k) {
    a[k].bits = static_cast<std::uint16_t>(numerics::float_bits(x.values[k]) >> 16);
    b[k].bits = static_cast<std::uint16_t>(numerics::float_bits(w.values[k][n]) >> 16);
  }
  return numerics::fused16(c, a, b);
}

// One vector of outputs of which some are `wrong`. Those without any term, such as padding, keep
// their accumulator.
inline HWY_NOINLINE void repair(float* c, VF results, VI wrong, const DecodedRow& x,
                                const DecodedGroup& w, std::size_t n) {
  const DF df;
  const DI di;
  VI terms = hn::Zero(di);
  for (std::size_t k = 0; k < kGroup; ++k) {
    const VI magnitude = hn::ShiftLeft<1>(hn::BitCast(di, hn::Load(df, w.values[k] + n)));
    if (x.values[k] != 0) terms = hn::Or(terms, magnitude);
  }
  HWY_ALIGN std::int32_t flags[kLanes], any[kLanes];
  HWY_ALIGN float values[kLanes];
  hn::Store(wrong, di, flags);
  hn::Store(terms, di, any);
  hn::Store(results, df, values);
  for (std::size_t i = 0; i < kLanes; ++i) {
    if (flags[i] >= 0) {
      c[n + i] = values[i];
    } else if (any[i] == 0 && std::isfinite(c[n + i])) {
      c[n + i] += 0.0f;  // -0 becomes +0
    } else {
      c[n + i] = scalar_lane(c[n + i], x, w, n + i);
    }
  }
}

HWY_INLINE void finish(float* HWY_RESTRICT c, const VI* products, Scaling* scaling,
                       const DecodedRow& x, const DecodedGroup& w, std::size_t n) {
  const DF df;
  const DI di;
  VF results[kVectors];
  VI wrong = hn::Zero(di);
  for (std::size_t v = 0; v < kVectors; ++v) {
    results[v] = cut_sum(products[v], scaling[v], c + n + v * kLanes);
    wrong = hn::Or(wrong, scaling[v].wrong);
  }
  if (HWY_LIKELY(hn::AllFalse(di, hn::Lt(wrong, hn::Zero(di))))) {
    for (std::size_t v = 0; v < kVectors; ++v)
      hn::Store(results[v], df, c + n + v * kLanes);
    return;
  }
  for (std::size_t v = 0; v < kVectors; ++v)
    repair(c, results[v], scaling[v].wrong, x, w, n + v * kLanes);
}

// c[r, n .. n + kColumns) = fused16(c[r], x[r], w) for kRows rows of a pair, all plain.
template <std::size_t kRows>
HWY_INLINE void multiply_columns(float* HWY_RESTRICT c, std::size_t c_stride, const DecodedRow* x,
                                 const std::int16_t (*largest)[kPanel], const DecodedGroup& w,
                                 std::size_t n) {
  const DF df;
  Scaling scaling[kRows][kVectors];
  VI products[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t lane = n + v * kLanes;
      scaling[r][v] = scaling_of(largest[r] + lane, c + r * c_stride + lane);
      products[r][v] = hn::Zero(DI());
    }
  }
#pragma GCC unroll 4
  for (std::size_t k = 0; k < kGroup; ++k) {
    for (std::size_t r = 0; r < kRows; ++r) {
      const VF a = hn::Set(df, x[r].values[k]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        const VF product = hn::Mul(a, hn::Load(df, w.values[k] + n + v * kLanes));
        products[r][v] = hn::Add(products[r][v], scaling[r][v].scaled(product));
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r)
    finish(c + r * c_stride, products[r], scaling[r], x[r], w, n);
}

// One or two rows, all plain.
template <std::size_t kRows>
HWY_INLINE void multiply_rows(float* HWY_RESTRICT c, std::size_t c_stride, const DecodedRow* x,
                              const DecodedGroup& w) {
  constexpr std::size_t kStep = std::min(kRows, kRowsTogether);
  PairExponents exponents;
  find_largest(exponents, x[0], x[kRows - 1], w);
  for (std::size_t n = 0; n < kPanel; n += kColumns) {
    for (std::size_t r = 0; r < kRows; r += kStep) {
      multiply_columns<kStep>(c + r * c_stride, c_stride, x + r, exponents.largest + r, w, n);
    }
  }
}

inline HWY_NOINLINE void scalar_row(float* c, const DecodedRow& x, const DecodedGroup& w) {
  for (std::size_t n = 0; n < kPanel; ++n)
    c[n] = scalar_lane(c[n], x, w, n);
}

// c[r, 0..32) = fused16(c[r], x[r], w) for `rows` rows; rows of c are `c_stride` apart, aligned.
HWY_INLINE void fused16_rows(float* c, std::size_t c_stride, const DecodedRow* x, std::size_t rows,
                             const DecodedGroup& w) {
  std::size_t r = 0;
  while (r < rows) {
    if (HWY_UNLIKELY(!w.plain || !x[r].plain)) {
      scalar_row(c + r * c_stride, x[r], w);
      ++r;
    } else if (r + 1 < rows && HWY_LIKELY(x[r + 1].plain)) {
      multiply_rows<2>(c + r * c_stride, c_stride, x + r, w);
      r += 2;
    } else {
      multiply_rows<1>(c + r * c_stride, c_stride, x + r, w);
      ++r;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // toggle
