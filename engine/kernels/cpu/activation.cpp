#include "kernels/cpu/activation.h"

#include "numerics/exp.h"

namespace engine::kernels::cpu {

void silu_mul(bf16* out, const float* gate_up, std::size_t rows, std::size_t intermediate,
              Threads& threads) {
  threads.for_range(rows, 16 * intermediate, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const float* gate = gate_up + r * 2 * intermediate;
      const float* up = gate + intermediate;
      for (std::size_t i = 0; i < intermediate; ++i) {
        out[r * intermediate + i] = numerics::from_float(numerics::silu(gate[i]) * up[i]);
      }
    }
  });
}

}  // namespace engine::kernels::cpu
