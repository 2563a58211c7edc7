#include "kernels/cpu/activation.h"

#include "numerics/exp.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/activation.cpp"
#include <hwy/foreach_target.h>  // must precede highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

// A plain loop: compiled for the target, hence vectorised with its fma.
void silu_mul_row(bf16* HWY_RESTRICT out, const float* HWY_RESTRICT gate,
                  const float* HWY_RESTRICT up, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = numerics::from_float(numerics::silu(gate[i]) * up[i]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace engine::kernels::cpu {

HWY_EXPORT(silu_mul_row);

void silu_mul(bf16* out, const float* gate_up, std::size_t rows, std::size_t intermediate,
              Threads& threads) {
  threads.for_range(rows, 2 * intermediate, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const float* gate = gate_up + r * 2 * intermediate;
      HWY_DYNAMIC_DISPATCH(silu_mul_row)
      (out + r * intermediate, gate, gate + intermediate, intermediate);
    }
  });
}

}  // namespace engine::kernels::cpu
#endif  // HWY_ONCE
