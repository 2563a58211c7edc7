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
// The sum is cut to a float by the processor: REQUIRES a TowardZero in scope. All else is exact.
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
#include <cfenv>
#include <cmath>

#include "kernels/cpu/decode-inl.h"
#include "numerics/fused16.h"

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

// While it lives, this thread rounds toward zero.
class TowardZero {
 public:
  TowardZero() : before_(std::fegetround()) { std::fesetround(FE_TOWARDZERO); }
  ~TowardZero() { std::fesetround(before_); }
  TowardZero(const TowardZero&) = delete;
  TowardZero& operator=(const TowardZero&) = delete;

 private:
  int before_;
};

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

inline HWY_NOINLINE void scalar_row(float* c, const DecodedRow& x, const DecodedGroup& w) {
  for (std::size_t n = 0; n < kPanel; ++n)
    c[n] = scalar_lane(c[n], x, w, n);
}

#if HWY_TARGET == HWY_SCALAR

inline void fused16_rows(float* c, std::size_t c_stride, const DecodedRow* x, std::size_t rows,
                         const DecodedGroup& w) {
  for (std::size_t r = 0; r < rows; ++r)
    scalar_row(c + r * c_stride, x[r], w);
}

#else

inline constexpr int kBias = 127;  // of a float's exponent field
inline constexpr int kLowestField = kBias - 100, kHighestField = kBias + 25;

inline constexpr std::size_t kLanes = hn::MaxLanes(DF());
inline constexpr std::size_t kColumns = 2 * kLanes;  // of a row whose sums stay in registers
inline constexpr std::size_t kRowsAhead = 16;        // whose scales are found before they are used

// How far a row's products are scaled, and whether an output is outside of the limits.
struct alignas(64) RowScale {
  std::int32_t shift[kPanel];  // (25 - emax) << 23
  std::int32_t wrong[kLanes];  // some lane negative
};

// Negative for lanes outside of the limits.
HWY_INLINE VI out_of_limits(VI shift) {
  return hn::Or(shift, hn::Sub(hn::Set(DI(), (kHighestField - kLowestField) << 23), shift));
}

// largest: the product's exponent field in the highest byte, anything below.
HWY_INLINE VI shift_of(VU largest, const float* c) {
  const DI di;
  const VU field = hn::ShiftLeft<1>(hn::BitCast(DU(), hn::Load(DF(), c)));
  const VI half = hn::BitCast(di, hn::ShiftRight<1>(hn::Max(largest, field)));
  return hn::Sub(hn::Set(di, kHighestField << 23), hn::And(half, hn::Set(di, 0xff << 23)));
}

// Largest exponents of one row's products: bytes of four columns to a lane.
template <class D8, class V8>
HWY_INLINE VU largest_fields(D8 d8, const V8* weights, const DecodedRow& x) {
  const DU du;
  const auto sum = [&](std::size_t k) HWY_ATTR {
    return hn::SaturatedAdd(hn::BitCast(d8, hn::Set(du, x.exponents[k])), weights[k]);
  };
  V8 a = sum(0), b = sum(1);
  for (std::size_t k = 2; k < kGroup / 2; k += 2) {
    a = hn::Max(a, sum(k));
    b = hn::Max(b, sum(k + 1));
  }
  a = hn::Max(a, b);
  a = hn::Max(a, hn::BitCast(d8, hn::ShiftRight<8>(hn::BitCast(du, a))));
  return hn::Xor(hn::BitCast(du, a), hn::Set(du, 0x80808080u));
}

HWY_INLINE void find_scales(RowScale* out, const float* c, std::size_t c_stride,
                            const DecodedRow* x, std::size_t rows, const DecodedGroup& w) {
  const DI di;
  const DU du;
  const hn::Repartition<std::int8_t, DU> d8;
  for (std::size_t n = 0; n < kPanel; n += kColumns) {
    hn::Vec<decltype(d8)> weights[kGroup / 2];
    for (std::size_t k = 0; k < kGroup / 2; ++k)
      weights[k] = hn::BitCast(d8, hn::Load(du, w.exponents[k] + n / 2));
    for (std::size_t r = 0; r < rows; ++r) {
      const VU fields = largest_fields(d8, weights, x[r]);
      const float* row = c + r * c_stride + n;
      const VI low = shift_of(hn::ShiftLeft<24>(fields), row);
      const VI high = shift_of(hn::ShiftLeft<8>(fields), row + kLanes);
      hn::Store(low, di, out[r].shift + n);
      hn::Store(high, di, out[r].shift + n + kLanes);
      VI wrong = hn::Or(out_of_limits(low), out_of_limits(high));
      if (n > 0) wrong = hn::Or(wrong, hn::Load(di, out[r].wrong));
      hn::Store(wrong, di, out[r].wrong);
    }
  }
}

// Truncating conversion; lanes out of range hold anything. Highway's ConvertTo spends two more
// instructions on those lanes.
HWY_INLINE VI truncate(VF x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  using Raw = decltype(VI().raw);
  typedef std::int32_t Ints __attribute__((vector_size(sizeof(Raw))));
  typedef float Floats __attribute__((vector_size(sizeof(Raw))));
  return VI{reinterpret_cast<Raw>(__builtin_convertvector(reinterpret_cast<Floats>(x.raw), Ints))};
#else
  return hn::ConvertTo(DI(), x);
#endif
}

HWY_INLINE VI scaled(VF x, VI shift) {
  return truncate(hn::BitCast(DF(), hn::Add(hn::BitCast(DI(), x), shift)));
}

// The sum of the scaled products and c.
HWY_INLINE VI whole_sum(VI products, VI shift, const float* c) {
  return hn::Add(products, scaled(hn::Load(DF(), c), shift));
}

HWY_INLINE VF cut(VI sum, VI shift) {
  const DF df;
  const VF unit = hn::BitCast(df, hn::Sub(hn::Set(DI(), kBias << 23), shift));
  return hn::Mul(hn::ConvertTo(df, sum), unit);
}

// One vector of outputs of which some may be outside of the limits, or their sums of int32:
// products reach 2^31 - 2^24, c adds 2^26. Those without any term, such as padding, keep their
// accumulator.
inline HWY_NOINLINE void repair(float* c, VI products, VI shift, const DecodedRow& x,
                                const DecodedGroup& w, std::size_t n) {
  const DF df;
  const DI di;
  VI terms = hn::Zero(di);
  for (std::size_t k = 0; k < kGroup; ++k) {
    const VI magnitude = hn::ShiftLeft<1>(hn::BitCast(di, hn::Load(df, w.values[k] + n)));
    if (x.values[k] != 0) terms = hn::Or(terms, magnitude);
  }
  const VI sum = whole_sum(products, shift, c + n);
  const VI wrong = hn::Or(out_of_limits(shift), hn::Add(hn::Abs(sum), hn::Set(di, 1 << 26)));
  HWY_ALIGN std::int32_t flags[kLanes], any[kLanes];
  HWY_ALIGN float values[kLanes];
  hn::Store(wrong, di, flags);
  hn::Store(terms, di, any);
  hn::Store(cut(sum, shift), df, values);
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

// c[r, n .. n + kColumns) = fused16(c[r], x[r], w) for kRows rows, all plain.
template <std::size_t kRows>
HWY_INLINE void multiply_columns(float* HWY_RESTRICT c, std::size_t c_stride, const DecodedRow* x,
                                 const RowScale* scales, const DecodedGroup& w, std::size_t n) {
  const DF df;
  const DI di;
  VI shift[kRows][2], products[kRows][2];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < 2; ++v) {
      shift[r][v] = hn::Load(di, scales[r].shift + n + v * kLanes);
      products[r][v] = hn::Zero(di);
    }
  }
  // Not unrolled whole: g++ then keeps broadcast values and spills them.
#pragma GCC unroll 4
  for (std::size_t k = 0; k < kGroup; ++k) {
    const VF low = hn::Load(df, w.values[k] + n), high = hn::Load(df, w.values[k] + n + kLanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const VF a = hn::Set(df, x[r].values[k]);
      products[r][0] = hn::Add(products[r][0], scaled(hn::Mul(a, low), shift[r][0]));
      products[r][1] = hn::Add(products[r][1], scaled(hn::Mul(a, high), shift[r][1]));
    }
  }
  VI wrong = hn::Zero(di);
  for (std::size_t r = 0; r < kRows; ++r) {
    // The bit below the sign's: then the sum may leave int32.
    const VI large = hn::Or(hn::Abs(products[r][0]), hn::Abs(products[r][1]));
    wrong = hn::Or(wrong, hn::Or(hn::ShiftLeft<1>(large), hn::Load(di, scales[r].wrong)));
  }
  const bool right = HWY_LIKELY(hn::AllFalse(di, hn::Lt(wrong, hn::Zero(di))));
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < 2; ++v) {
      float* row = c + r * c_stride;
      const std::size_t lane = n + v * kLanes;
      if (right) {
        const VI sum = whole_sum(products[r][v], shift[r][v], row + lane);
        hn::Store(cut(sum, shift[r][v]), df, row + lane);
      } else {
        repair(row, products[r][v], shift[r][v], x[r], w, lane);
      }
    }
  }
}

template <std::size_t kRows>
HWY_INLINE void multiply_rows(float* HWY_RESTRICT c, std::size_t c_stride, const DecodedRow* x,
                              const RowScale* scales, const DecodedGroup& w) {
  for (std::size_t n = 0; n < kPanel; n += kColumns)
    multiply_columns<kRows>(c, c_stride, x, scales, w, n);
}

// c[r, 0..32) = fused16(c[r], x[r], w) for `rows` rows; rows of c are `c_stride` apart, aligned.
HWY_INLINE void fused16_rows(float* c, std::size_t c_stride, const DecodedRow* x, std::size_t rows,
                             const DecodedGroup& w) {
  RowScale scales[kRowsAhead];
  for (std::size_t first = 0; first < rows; first += kRowsAhead) {
    const std::size_t count = std::min(kRowsAhead, rows - first);
    float* out = c + first * c_stride;
    const DecodedRow* in = x + first;
    find_scales(scales, out, c_stride, in, count, w);
    std::size_t r = 0;
    while (r < count) {
      if (HWY_UNLIKELY(!w.plain || !in[r].plain)) {
        scalar_row(out + r * c_stride, in[r], w);
        ++r;
      } else if (r + 1 < count && HWY_LIKELY(in[r + 1].plain)) {
        multiply_rows<2>(out + r * c_stride, c_stride, in + r, scales + r, w);
        r += 2;
      } else {
        multiply_rows<1>(out + r * c_stride, c_stride, in + r, scales + r, w);
        ++r;
      }
    }
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // toggle
