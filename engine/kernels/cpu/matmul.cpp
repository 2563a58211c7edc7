#include "kernels/cpu/matmul.h"

#include <algorithm>

#include "numerics/fused16.h"

namespace engine::kernels::cpu {
namespace {

float product(const MatmulArgs& args, std::size_t r, std::size_t n) {
  const std::size_t inner = args.w.inner(), slice = inner / args.split;
  const bf16* x = args.x + r * inner;
  const bf16* w = args.w.panel(n / kPanel) + n % kPanel;
  float sum = 0.0f;
  for (std::size_t s = 0; s < args.split; ++s) {
    const float part =
        numerics::fused_chain(0.0f, x + s * slice, w + s * slice * kPanel, slice, kPanel);
    sum = s == 0 ? part : sum + part;
  }
  return sum;
}

}  // namespace

void matmul(const MatmulArgs& args, Threads& threads) {
  const std::size_t outputs = args.w.outputs();
  const std::size_t cost = args.rows * kPanel * args.w.inner() / 8;
  threads.for_range(args.w.panels(), cost, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = 0; r < args.rows; ++r) {
      for (std::size_t n = begin * kPanel; n < std::min(end * kPanel, outputs); ++n) {
        float sum = product(args, r, n);
        if (args.bias != nullptr) sum += numerics::to_float(args.bias[n]);
        float& out = args.out[r * outputs + n];
        out = args.accumulate ? sum + out : sum;
      }
    }
  });
}

}  // namespace engine::kernels::cpu
