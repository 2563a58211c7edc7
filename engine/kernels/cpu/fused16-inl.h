// fused16 (numerics/fused16.h) for one input row and 32 outputs at once, once per instruction set.
//
// The alignment of a term, "25 fraction bits below emax, the rest cut", is a float product and a
// truncating conversion: a * b is exact in float32 (8 x 8 significand bits), times 2^(25 - emax) is
// exact too, and float -> int32 conversion cuts toward zero, sign applied after. The 16 terms fit
// an int32: 16 * 255 * 255 * 2^11 < 2^31.
//
// That holds while every exponent stays clear of float32's ends: for -100 <= emax <= 120 a product
// small enough to be a denormal is below the last kept bit. Lanes outside (infinities and NaN too,
// by their sentinel) are rare and take the scalar reference.
//
// Included by a .cpp that is compiled for each target through hwy/foreach_target.h.
#if defined(ENGINE_KERNELS_CPU_FUSED16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENGINE_KERNELS_CPU_FUSED16_INL_H_
#undef ENGINE_KERNELS_CPU_FUSED16_INL_H_
#else
#define ENGINE_KERNELS_CPU_FUSED16_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/cpu/decoded.h"
#include "numerics/fused16.h"

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using D16 = hn::ScalableTag<std::int16_t>;
using D16Half = hn::Rebind<std::int16_t, DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

// Exponent sentinels: any sum with kZero stays below every real one, any with kInfinite above,
// their own sum included; no sum overflows an int16.
inline constexpr std::int16_t kZero = -8000;
inline constexpr std::int16_t kInfinite = 16000;
inline constexpr int kAllZero = -7000;  // an emax below this: no term at all
inline constexpr int kLowestExponent = -100, kHighestExponent = 120;
// Above this the 16 products and c together might leave int32, or round up to 2^31.
inline constexpr std::int32_t kLargestSum = 2147483647 - (1 << 26) - 256;

inline std::int16_t scalar_exponent(bf16 x) {
  const int field = x.bits >> 7 & 0xff;
  if ((x.bits & 0x7fff) == 0) return kZero;
  if (field == 255) return kInfinite;
  return static_cast<std::int16_t>(field == 0 ? -126 : field - 127);
}

// x: 16 elements.
inline void decode_row(DecodedRow& row, const bf16* x) {
  for (std::size_t k = 0; k < kGroup; ++k) {
    row.values[k] = numerics::to_float(x[k]);
    const auto e = static_cast<std::uint16_t>(scalar_exponent(x[k]));
    row.exponents[k] = static_cast<std::int32_t>(e * 0x10001u);
  }
}

// Exponents of one vector of bf16 magnitudes, zeros, denormals and specials included.
template <class V>
HWY_INLINE V any_exponents(V magnitude) {
  const D16 d16;
  const auto field = hn::ShiftRight<7>(magnitude);
  auto e = hn::Sub(hn::Max(field, hn::Set(d16, 1)), hn::Set(d16, 127));
  e = hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d16)), hn::Set(d16, kZero), e);
  return hn::IfThenElse(hn::Eq(field, hn::Set(d16, 255)), hn::Set(d16, kInfinite), e);
}

// Most groups hold normal numbers only: their exponents are written at half the cost, while looking
// out for anything else.
HWY_INLINE void decode_exponents(DecodedGroup& group, const bf16* w, std::size_t stride) {
  const D16 d16;
  const hn::RebindToUnsigned<D16> du16;
  for (std::size_t n = 0; n < kPanel; n += hn::Lanes(d16)) {
    const auto magnitude = [&](std::size_t k) HWY_ATTR {
      const auto* bits = reinterpret_cast<const std::uint16_t*>(w + k * stride + n);
      return hn::And(hn::LoadU(du16, bits), hn::Set(du16, 0x7fff));
    };
    // Distance above the smallest normal; wraps to a large number for zeros and denormals.
    auto largest = hn::Zero(du16);
    for (std::size_t k = 0; k < kGroup; ++k) {
      const auto x = magnitude(k);
      largest = hn::Max(largest, hn::Sub(x, hn::Set(du16, 0x0080)));
      const auto field = hn::BitCast(d16, hn::ShiftRight<7>(x));
      hn::Store(hn::Sub(field, hn::Set(d16, 127)), d16, group.exponents[k] + n);
    }
    const auto high = hn::BitCast(d16, hn::ShiftRight<8>(largest));
    if (HWY_LIKELY(hn::AllTrue(d16, hn::Lt(high, hn::Set(d16, 0x7f))))) continue;
    for (std::size_t k = 0; k < kGroup; ++k) {
      hn::Store(any_exponents(hn::BitCast(d16, magnitude(k))), d16, group.exponents[k] + n);
    }
  }
}

// w: 16 rows of 32 outputs, `stride` elements apart.
HWY_INLINE void decode_group(DecodedGroup& group, const bf16* w, std::size_t stride) {
  const hn::Rebind<std::uint16_t, DF> du16_half;
  const DF df;
  const DU du;
  for (std::size_t k = 0; k < kGroup; ++k) {
    const auto* bits = reinterpret_cast<const std::uint16_t*>(w + k * stride);
    for (std::size_t n = 0; n < kPanel; n += hn::Lanes(df)) {
      const auto wide = hn::PromoteTo(du, hn::LoadU(du16_half, bits + n));
      hn::Store(hn::BitCast(df, hn::ShiftLeft<16>(wide)), df, group.values[k] + n);
    }
  }
  decode_exponents(group, w, stride);
}

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

// The scalar reference for one lane.
inline HWY_NOINLINE float scalar_lane(float c, const DecodedRow& x, const DecodedGroup& w,
                                      std::size_t n) {
  bf16 a[kGroup], b[kGroup];
  for (std::size_t k = 0; k < kGroup; ++k) {
    a[k].bits = static_cast<std::uint16_t>(numerics::float_bits(x.values[k]) >> 16);
    b[k].bits = static_cast<std::uint16_t>(numerics::float_bits(w.values[k][n]) >> 16);
  }
  return numerics::fused16(c, a, b);
}

inline HWY_NOINLINE void repair(VI suspicious, float* c, const float* before, const DecodedRow& x,
                                const DecodedGroup& w, std::size_t n) {
  const DI di;
  HWY_ALIGN std::int32_t flags[hn::MaxLanes(di)];
  hn::Store(suspicious, di, flags);
  for (std::size_t i = 0; i < hn::Lanes(di); ++i) {
    if (flags[i] != 0) c[n + i] = scalar_lane(before[i], x, w, n + i);
  }
}

// The int32 sum as a float cut to 24 bits. |sum| <= 2^31 - 256.
HWY_INLINE VF cut_to_float(VI magnitude) {
  const DF df;
  const DI di;
  const VF rounded = hn::ConvertTo(df, magnitude);
  // Rounded up, away from zero: one unit back.
  const VI up = hn::ShiftRight<31>(hn::Sub(magnitude, truncate(rounded)));
  return hn::BitCast(df, hn::Add(hn::BitCast(di, rounded), up));
}

// One vector of outputs: everything that follows the exponents and the sum of products.
struct Alignment {
  VI emax;  // clamped
  VI outside;
  VF scale;
  VF accumulator;
};

HWY_INLINE Alignment align(VI product_emax, const float* c) {
  const DF df;
  const DI di;
  const VF accumulator = hn::Load(df, c);
  const VI twice = hn::ShiftLeft<1>(hn::BitCast(di, accumulator));
  const VI field = hn::BitCast(di, hn::ShiftRight<24>(hn::BitCast(DU(), twice)));
  const VI exponent = hn::IfThenElse(hn::Eq(twice, hn::Zero(di)), hn::Set(di, kZero),
                                     hn::Sub(field, hn::Set(di, 127)));
  const VI emax = hn::Max(product_emax, exponent);
  const VI clamped =
      hn::Min(hn::Max(emax, hn::Set(di, kLowestExponent)), hn::Set(di, kHighestExponent));
  const auto real = hn::Gt(emax, hn::Set(di, kAllZero));
  const VI outside = hn::IfThenElseZero(real, hn::Sub(clamped, emax));
  const VF scale = hn::BitCast(df, hn::ShiftLeft<23>(hn::Sub(hn::Set(di, 127 + 25), clamped)));
  return {clamped, outside, scale, accumulator};
}

HWY_INLINE void finish(const Alignment& at, VI products, float* c, const DecodedRow& x,
                       const DecodedGroup& w, std::size_t n) {
  const DF df;
  const DI di;
  const VI sum = hn::Add(products, truncate(hn::Mul(at.accumulator, at.scale)));
  const VF cut = cut_to_float(hn::Abs(sum));
  const VF unit = hn::BitCast(df, hn::ShiftLeft<23>(hn::Add(at.emax, hn::Set(di, 127 - 25))));
  const VI sign = hn::And(sum, hn::Set(di, INT32_MIN));
  const VF result = hn::Or(hn::Mul(cut, unit), hn::BitCast(df, sign));
  hn::Store(result, df, c + n);

  const VI large = hn::VecFromMask(di, hn::Gt(hn::Abs(products), hn::Set(di, kLargestSum)));
  const VI suspicious = hn::Or(at.outside, large);
  if (HWY_UNLIKELY(!hn::AllTrue(di, hn::Eq(suspicious, hn::Zero(di))))) {
    HWY_ALIGN float before[hn::MaxLanes(df)];
    hn::Store(at.accumulator, df, before);
    repair(suspicious, c, before, x, w, n);
  }
}

// c[0, 32) = fused16(c, x, w).
HWY_INLINE void fused16_panel(float* HWY_RESTRICT c, const DecodedRow& x, const DecodedGroup& w) {
  const D16 d16;
  const D16Half d16_half;
  const DF df;
  const DI di;
  constexpr std::size_t kLanes = hn::MaxLanes(DF()), kLanes16 = hn::MaxLanes(D16());
  constexpr std::size_t kVectors = kLanes16 / kLanes;  // float vectors of an int16 vector
  for (std::size_t n = 0; n < kPanel; n += kLanes16) {
    auto emax = hn::Set(d16, INT16_MIN);
    for (std::size_t k = 0; k < kGroup; ++k) {
      const auto ex = hn::BitCast(d16, hn::Set(di, x.exponents[k]));
      emax = hn::Max(emax, hn::Add(ex, hn::Load(d16, w.exponents[k] + n)));
    }
    HWY_ALIGN std::int16_t spill[kLanes16];
    hn::Store(emax, d16, spill);

    Alignment at[kVectors];
    VI products[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t lane = v * kLanes;
      at[v] = align(hn::PromoteTo(di, hn::Load(d16_half, spill + lane)), c + n + lane);
      products[v] = hn::Zero(di);
    }
    for (std::size_t k = 0; k < kGroup; ++k) {
      const VF a = hn::Set(df, x.values[k]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        const VF product = hn::Mul(a, hn::Load(df, w.values[k] + n + v * kLanes));
        products[v] = hn::Add(products[v], truncate(hn::Mul(product, at[v].scale)));
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      finish(at[v], products[v], c, x, w, n + v * kLanes);
    }
  }
}

// c[r, 0..32) = fused16(c[r], x[r], w) for `rows` rows; rows of c are `c_stride` apart, aligned.
HWY_INLINE void fused16_rows(float* c, std::size_t c_stride, const DecodedRow* x, std::size_t rows,
                             const DecodedGroup& w) {
  for (std::size_t r = 0; r < rows; ++r)
    fused16_panel(c + r * c_stride, x[r], w);
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // toggle
