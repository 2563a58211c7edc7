#include "kernels/cpu/activation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/activation.cpp"
#include <hwy/foreach_target.h>  // must precede highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

using numerics::Activation;

// Plain loops: compiled for the target, hence vectorised with its fma.
template <Activation kActivation>
void activate_row(bf16* HWY_RESTRICT out, const float* HWY_RESTRICT x, std::size_t count) {
  const float* HWY_RESTRICT up = kActivation == Activation::kGelu ? x : x + count;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = numerics::from_float(numerics::activate<kActivation>(x[i], up[i]));
  }
}

void activate_any(bf16* out, const float* x, std::size_t count, Activation activation) {
  switch (activation) {
    case Activation::kSiluGated:
      return activate_row<Activation::kSiluGated>(out, x, count);
    case Activation::kGeluGated:
      return activate_row<Activation::kGeluGated>(out, x, count);
    case Activation::kGelu:
      return activate_row<Activation::kGelu>(out, x, count);
  }
}

void scale_part(float* logits, std::size_t count, float divisor, float cap) {
  for (std::size_t i = 0; i < count; ++i)
    logits[i] = logits[i] / divisor;
  if (cap == 0.0f) return;
  for (std::size_t i = 0; i < count; ++i)
    logits[i] = numerics::soft_cap(logits[i], cap);
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace engine::kernels::cpu {

HWY_EXPORT(activate_any);
HWY_EXPORT(scale_part);

void activate(bf16* out, const float* x, std::size_t rows, std::size_t intermediate,
              numerics::Activation activation, Threads& threads) {
  const std::size_t width =
      activation == numerics::Activation::kGelu ? intermediate : 2 * intermediate;
  threads.for_range(rows, 2 * intermediate, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      HWY_DYNAMIC_DISPATCH(activate_any)
      (out + r * intermediate, x + r * width, intermediate, activation);
    }
  });
}

void scale_logits(float* logits, std::size_t count, float divisor, float cap, Threads& threads) {
  threads.for_range(count, 2, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(scale_part)(logits + begin, end - begin, divisor, cap);
  });
}

}  // namespace engine::kernels::cpu
#endif  // HWY_ONCE
