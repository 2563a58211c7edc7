#include "kernels/cpu/embed.h"

#include <algorithm>

namespace engine::kernels::cpu {

void embed(float* out, const bf16* table, std::span<const Token> tokens, std::size_t hidden,
           float scale) {
  for (const Token token : tokens) {
    const bf16* row = table + static_cast<std::size_t>(token) * hidden;
    out = std::transform(row, row + hidden, out,
                         [&](bf16 value) { return numerics::to_float(value) * scale; });
  }
}

}  // namespace engine::kernels::cpu
