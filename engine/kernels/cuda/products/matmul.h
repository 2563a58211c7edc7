// Matrix products in split_k slices of fused16 chains: see Backend::matmul.
#pragma once

#include "kernels/cuda/products/matrix.h"

namespace engine::kernels::cuda {

struct MatmulArgs {
  float* out;     // [R, N]
  const bf16* x;  // [R, K]
  const DeviceMatrix& w;
  const bf16* bias;  // [N], or null
  std::size_t rows;
  std::size_t split;  // divides K into multiples of 16; a power of two, at most 16
  bool accumulate;
};

void matmul(const MatmulArgs& args, cudaStream_t stream);

struct GatedArgs {
  bf16* out;      // [R, I]
  const bf16* x;  // [R, K]
  const DeviceMatrix& gate_up;
  std::size_t rows;
};

// out = bf16(silu(gate) * up) for [gate, up] = x * gate_up^T in one slice of K, never stored.
// False, and nothing done, for a shape that it does not pay for.
bool matmul_gated(const GatedArgs& args, cudaStream_t stream);

}  // namespace engine::kernels::cuda
