// bf16 to the operands of fused16-inl.h, once per instruction set. Included like that file.
#if defined(ENGINE_KERNELS_CPU_DECODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENGINE_KERNELS_CPU_DECODE_INL_H_
#undef ENGINE_KERNELS_CPU_DECODE_INL_H_
#else
#define ENGINE_KERNELS_CPU_DECODE_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/cpu/decoded.h"

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using D16 = hn::ScalableTag<std::int16_t>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
using VU = hn::Vec<DU>;

#if HWY_TARGET == HWY_SCALAR

// Values alone: without vectors, fused16-inl.h takes the scalar reference.
inline void decode_row(DecodedRow& row, const bf16* x) {
  for (std::size_t k = 0; k < kGroup; ++k)
    row.values[k] = numerics::to_float(x[k]);
}

inline void decode_group(DecodedGroup& group, const bf16* w, std::size_t stride) {
  for (std::size_t k = 0; k < kGroup; ++k) {
    for (std::size_t n = 0; n < kPanel; ++n)
      group.values[k][n] = numerics::to_float(w[k * stride + n]);
  }
}

#else

// Exponents of bf16 magnitudes in integer lanes of any width, zeros and denormals included.
template <class D, class V>
HWY_INLINE V exponents_of(D d, V magnitude, hn::TFromD<D> bias) {
  const V normal = hn::Sub(hn::Max(hn::ShiftRight<7>(magnitude), hn::Set(d, 1)), hn::Set(d, bias));
  return hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d)), hn::Set(d, kZeroExponent), normal);
}

// x: 16 elements.
HWY_INLINE void decode_row(DecodedRow& row, const bf16* x) {
  const DF df;
  const DI di;
  const hn::Rebind<std::uint16_t, DI> du16;
  const hn::Rebind<std::int8_t, DI> d8;
  HWY_ALIGN std::int8_t exponents[kGroup];
  VI largest = hn::Zero(di);
  for (std::size_t k = 0; k < kGroup; k += hn::Lanes(di)) {
    const auto* bits = reinterpret_cast<const std::uint16_t*>(x + k);
    const VI wide = hn::PromoteTo(di, hn::LoadU(du16, bits));
    hn::Store(hn::BitCast(df, hn::ShiftLeft<16>(wide)), df, row.values + k);
    const VI magnitude = hn::And(wide, hn::Set(di, 0x7fff));
    hn::StoreU(hn::DemoteTo(d8, exponents_of(di, magnitude, 127)), d8, exponents + k);
    largest = hn::Max(largest, magnitude);
  }
  const hn::CappedTag<std::uint32_t, kGroup / 2> du;
  const hn::Rebind<std::uint16_t, decltype(du)> pairs;
  for (std::size_t k = 0; k < kGroup / 2; k += hn::Lanes(du)) {
    const auto* bytes = reinterpret_cast<const std::uint16_t*>(exponents + 2 * k);
    const auto pair = hn::PromoteTo(du, hn::LoadU(pairs, bytes));
    hn::StoreU(hn::Or(pair, hn::ShiftLeft<16>(pair)), du, row.exponents + k);
  }
  row.plain = hn::AllTrue(di, hn::Lt(largest, hn::Set(di, kPlainBits)));
}

// Elements k of the 2 L outputs from n on: output n + i in the lower half of lane i, n + L + i in
// the upper.
HWY_INLINE VU halves(const bf16* w, std::size_t n) {
  const DU du;
  const hn::Rebind<std::uint16_t, DU> du16;
  const auto* bits = reinterpret_cast<const std::uint16_t*>(w) + n;
  const VU upper = hn::PromoteTo(du, hn::LoadU(du16, bits + hn::Lanes(du)));
  return hn::Or(hn::PromoteTo(du, hn::LoadU(du16, bits)), hn::ShiftLeft<16>(upper));
}

// Most groups hold plain normal numbers only: their exponents are written at half the cost, while
// looking out for anything else.
HWY_INLINE void decode_outputs(DecodedGroup& group, const bf16* w, std::size_t stride,
                               std::size_t n) {
  const DF df;
  const DU du;
  const D16 d16;
  const hn::RebindToUnsigned<D16> du16;
  const auto magnitude = [&](std::size_t k) HWY_ATTR {
    return hn::And(hn::BitCast(du16, halves(w + k * stride, n)), hn::Set(du16, 0x7fff));
  };
  // Distance above the smallest normal; wraps to a large number for zeros and denormals.
  auto largest = hn::Zero(du16);
  for (std::size_t k = 0; k < kGroup; k += 2) {
    hn::Vec<decltype(du16)> field[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const VU both = halves(w + (k + i) * stride, n);
      float* values = group.values[k + i] + n;
      hn::Store(hn::BitCast(df, hn::ShiftLeft<16>(both)), df, values);
      hn::Store(hn::BitCast(df, hn::And(both, hn::Set(du, 0xffff0000u))), df,
                values + hn::Lanes(df));
      const auto bits = hn::And(hn::BitCast(du16, both), hn::Set(du16, 0x7fff));
      largest = hn::Max(largest, hn::Sub(bits, hn::Set(du16, 0x0080)));
      field[i] = hn::ShiftRight<7>(bits);
    }
    const auto fields = hn::Or(field[0], hn::ShiftLeft<8>(field[1]));
    hn::Store(hn::BitCast(du, hn::Xor(fields, hn::Set(du16, 0x8080))), du,
              group.exponents[k / 2] + n / 2);
  }
  constexpr std::int16_t kHigh = (kPlainBits - 0x0080) >> 8;
  static_assert((kHigh << 8) + 0x0080 == kPlainBits);
  const auto high = hn::BitCast(d16, hn::ShiftRight<8>(largest));
  if (HWY_LIKELY(hn::AllTrue(d16, hn::Lt(high, hn::Set(d16, kHigh))))) return;
  auto top = hn::Zero(d16);
  for (std::size_t k = 0; k < kGroup; k += 2) {
    const auto low = hn::BitCast(d16, magnitude(k)), next = hn::BitCast(d16, magnitude(k + 1));
    top = hn::Max(top, hn::Max(low, next));
    const auto pair = hn::Or(hn::And(exponents_of(d16, low, 128), hn::Set(d16, 0xff)),
                             hn::ShiftLeft<8>(exponents_of(d16, next, 128)));
    hn::Store(hn::BitCast(du, pair), du, group.exponents[k / 2] + n / 2);
  }
  group.plain = group.plain && hn::AllTrue(d16, hn::Lt(top, hn::Set(d16, kPlainBits)));
}

// w: 16 rows of 32 outputs, `stride` elements apart.
HWY_INLINE void decode_group(DecodedGroup& group, const bf16* w, std::size_t stride) {
  group.plain = true;
  for (std::size_t n = 0; n < kPanel; n += 2 * hn::Lanes(DF()))
    decode_outputs(group, w, stride, n);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // toggle
