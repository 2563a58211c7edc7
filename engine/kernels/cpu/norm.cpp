#include "kernels/cpu/norm.h"

#include "numerics/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/norm.cpp"
#include <hwy/foreach_target.h>  // must precede highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

using numerics::kReduceLanes;

// numerics::square_sum with the lanes side by side, which the compiler turns into vectors.
float square_sum_row(const float* x, std::size_t n) {
  float lanes[kReduceLanes] = {};
  std::size_t i = 0;
  for (; i + kReduceLanes <= n; i += kReduceLanes) {
    for (int l = 0; l < kReduceLanes; ++l)
      lanes[l] = numerics::fma(x[i + l], x[i + l], lanes[l]);
  }
  for (int l = 0; i + l < n; ++l)
    lanes[l] = numerics::fma(x[i + l], x[i + l], lanes[l]);
  return numerics::xor_tree(lanes, kReduceLanes);
}

void rms_norm_row(bf16* HWY_RESTRICT out, const float* HWY_RESTRICT x, const NormArgs& args) {
  const float scale =
      numerics::rms_scale(square_sum_row(x, args.hidden), args.hidden, args.epsilon);
  const bf16* w = args.w;
  for (std::size_t i = 0; i < args.hidden; ++i) {
    out[i] = numerics::from_float(numerics::rms_apply(x[i], scale, w[i]));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace engine::kernels::cpu {

HWY_EXPORT(rms_norm_row);

void rms_norm(const NormArgs& args, Threads& threads) {
  threads.for_range(args.rows, args.hidden, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      HWY_DYNAMIC_DISPATCH(rms_norm_row)
      (args.out + r * args.out_stride, args.x + r * args.hidden, args);
    }
  });
}

}  // namespace engine::kernels::cpu
#endif  // HWY_ONCE
