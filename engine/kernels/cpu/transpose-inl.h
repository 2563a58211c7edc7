// Keys are rows of the KV cache, and outputs of the score product: a decoded group needs them as
// columns. Included like fused16-inl.h.
#if defined(ENGINE_KERNELS_CPU_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENGINE_KERNELS_CPU_TRANSPOSE_INL_H_
#undef ENGINE_KERNELS_CPU_TRANSPOSE_INL_H_
#else
#define ENGINE_KERNELS_CPU_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/cpu/decoded.h"

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

// out[k, c] = rows[c][k] for 8 x 8 elements; rows of `out` are kPanel apart.
HWY_INLINE void transpose_8x8(bf16* out, const bf16* const* rows, std::size_t k) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t c = 0; c < 8; ++c)
      out[i * kPanel + c] = rows[c][k + i];
  }
#else
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<std::uint16_t, 8> d;
  hn::Vec<decltype(d)> a[8], b[8];
  for (std::size_t c = 0; c < 8; ++c) {
    a[c] = hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(rows[c] + k));
  }
  // Each round rotates the six bits of an element's index (vector, lane) by one; three of them
  // exchange vector and lane.
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 4; ++i) {
      b[2 * i] = hn::InterleaveLower(d, a[i], a[i + 4]);
      b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + 4]);
    }
    for (std::size_t i = 0; i < 8; ++i)
      a[i] = b[i];
  }
  for (std::size_t i = 0; i < 8; ++i) {
    hn::StoreU(a[i], d, reinterpret_cast<std::uint16_t*>(out + i * kPanel));
  }
#endif
}

// out [16, 32]: elements [k, k + 16) of 32 rows.
HWY_INLINE void transpose_group(bf16* out, const bf16* const* rows, std::size_t k) {
  for (std::size_t i = 0; i < kGroup; i += 8) {
    for (std::size_t c = 0; c < kPanel; c += 8) {
      transpose_8x8(out + i * kPanel + c, rows + c, k + i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // toggle
