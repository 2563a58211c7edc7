// The MLP's nonlinearity, and tanh for it and for capped scores: float32 adds, multiplies, fma,
// divisions and numerics::exp only, so the same bits on every machine.
#pragma once

#include "numerics/exp.h"

namespace engine::numerics {

// Of what the MLP's first projection gives.
enum class Activation {
  kSiluGated,  // silu(gate) * up
  kGeluGated,  // gelu(gate) * up
  kGelu,       // gelu(x): one projection, no gate
};

// Relative error below 3e-7. Below 0.625 an odd polynomial (Cephes, tanhf), above it
// 1 - 2 / (e^2|x| + 1); both are computed and one is taken, so that loops over it have no branch.
ENGINE_HD inline float tanh(float x) {
  const float a = bits_float(float_bits(x) & 0x7fffffffu);
  const float z = a * a;
  float p = -5.70498872745e-3f;
  p = fma(p, z, 2.06390887954e-2f);
  p = fma(p, z, -5.37397155531e-2f);
  p = fma(p, z, 1.33314422036e-1f);
  p = fma(p, z, -3.33332819422e-1f);
  const float small = fma(p * z, a, a);
  const float large = 1.0f - 2.0f / (exp(2.0f * a) + 1.0f);
  const float value = a < 0.625f ? small : large;
  return bits_float(float_bits(value) | (float_bits(x) & 0x80000000u));
}

// The form with tanh (Hendrycks and Gimpel, 2016): x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
ENGINE_HD inline float gelu(float x) {
  const float inner = 0x1.988454p-1f * fma(0.044715f, (x * x) * x, x);
  return (0.5f * x) * (1.0f + tanh(inner));
}

// `up` is not read without a gate.
template <Activation kActivation>
ENGINE_HD inline float activate(float gate, float up) {
  if constexpr (kActivation == Activation::kSiluGated) return silu(gate) * up;
  if constexpr (kActivation == Activation::kGeluGated) return gelu(gate) * up;
  return gelu(gate);
}

// cap * tanh(x / cap).
ENGINE_HD inline float soft_cap(float x, float cap) {
  return cap * tanh(x / cap);
}

}  // namespace engine::numerics
