#include "kernels/cpu/norm.h"

#include "numerics/reduce.h"

namespace engine::kernels::cpu {

void rms_norm(const NormArgs& args, Threads& threads) {
  const std::size_t hidden = args.hidden;
  threads.for_range(args.rows, 4 * hidden, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const float* x = args.x + r * hidden;
      bf16* out = args.out + r * args.out_stride;
      const float scale =
          numerics::rms_scale(numerics::square_sum(x, hidden), hidden, args.epsilon);
      for (std::size_t i = 0; i < hidden; ++i) {
        out[i] = numerics::from_float(numerics::rms_apply(x[i], scale, args.w[i]));
      }
    }
  });
}

}  // namespace engine::kernels::cpu
