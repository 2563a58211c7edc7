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

// Exponents of bf16 magnitudes in integer lanes of any width, zeros and denormals included.
template <class D, class V>
HWY_INLINE V exponents_of(D d, V magnitude) {
  const V normal = hn::Sub(hn::Max(hn::ShiftRight<7>(magnitude), hn::Set(d, 1)), hn::Set(d, 127));
  return hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d)), hn::Set(d, kZeroExponent), normal);
}

// x: 16 elements.
HWY_INLINE void decode_row(DecodedRow& row, const bf16* x) {
  const DF df;
  const DI di;
  const hn::Rebind<std::uint16_t, DI> du16;
  const hn::Rebind<std::int8_t, DI> d8;
  VI largest = hn::Zero(di);
  for (std::size_t k = 0; k < kGroup; k += hn::Lanes(di)) {
    const auto* bits = reinterpret_cast<const std::uint16_t*>(x + k);
    const VI wide = hn::PromoteTo(di, hn::LoadU(du16, bits));
    hn::Store(hn::BitCast(df, hn::ShiftLeft<16>(wide)), df, row.values + k);
    const VI magnitude = hn::And(wide, hn::Set(di, 0x7fff));
    hn::StoreU(hn::DemoteTo(d8, exponents_of(di, magnitude)), d8, row.exponents + k);
    largest = hn::Max(largest, magnitude);
  }
  row.plain = hn::AllTrue(di, hn::Lt(largest, hn::Set(di, kPlainBits)));
}

// Most groups hold plain normal numbers only: their exponents are written at half the cost, while
// looking out for anything else.
HWY_INLINE void decode_exponents(DecodedGroup& group, const bf16* w, std::size_t stride) {
  const D16 d16;
  const hn::RebindToUnsigned<D16> du16;
  const auto store = [&](hn::Vec<D16> e, std::size_t k, std::size_t n) HWY_ATTR {
    const auto twice = hn::Or(hn::And(e, hn::Set(d16, 0xff)), hn::ShiftLeft<8>(e));
    hn::Store(twice, d16, reinterpret_cast<std::int16_t*>(group.exponents[k] + 2 * n));
  };
  group.plain = true;
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
      store(hn::Sub(hn::BitCast(d16, hn::ShiftRight<7>(x)), hn::Set(d16, 127)), k, n);
    }
    constexpr std::int16_t kHigh = (kPlainBits - 0x0080) >> 8;
    static_assert((kHigh << 8) + 0x0080 == kPlainBits);
    const auto high = hn::BitCast(d16, hn::ShiftRight<8>(largest));
    if (HWY_LIKELY(hn::AllTrue(d16, hn::Lt(high, hn::Set(d16, kHigh))))) continue;
    auto top = hn::Zero(d16);
    for (std::size_t k = 0; k < kGroup; ++k) {
      const auto x = hn::BitCast(d16, magnitude(k));
      top = hn::Max(top, x);
      store(exponents_of(d16, x), k, n);
    }
    group.plain = group.plain && hn::AllTrue(d16, hn::Lt(top, hn::Set(d16, kPlainBits)));
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

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // toggle
