#include "kernels/cuda/activation.h"
#include "kernels/cuda/device.cuh"
#include "numerics/exp.h"

namespace engine::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;

// ---- Kernels

__device__ float activate(float gate, float up) {
  return numerics::silu(gate) * up;
}

// blockIdx.x is the row, blockIdx.y a part of it.
__global__ void __launch_bounds__(kThreads)
    silu_mul_kernel(bf16* out, const float* gate_up, unsigned intermediate) {
  let_next_begin();
  wait_for_previous();
  const std::size_t row = blockIdx.x;
  const float* gate = gate_up + row * 2 * intermediate;
  const float* up = gate + intermediate;
  out += row * intermediate;
  const unsigned first = blockIdx.y * kThreads + threadIdx.x, step = gridDim.y * kThreads;
  if (intermediate % 4 == 0) {
    for (unsigned i = first; i < intermediate / 4; i += step) {
      const float4 g = reinterpret_cast<const float4*>(gate)[i];
      const float4 u = reinterpret_cast<const float4*>(up)[i];
      reinterpret_cast<uint2*>(out)[i] = {round_bf16x2(activate(g.x, u.x), activate(g.y, u.y)),
                                          round_bf16x2(activate(g.z, u.z), activate(g.w, u.w))};
    }
  } else {
    for (unsigned i = first; i < intermediate; i += step)
      out[i] = round_bf16(activate(gate[i], up[i]));
  }
}

}  // namespace

// ---- Launchers

void silu_mul(bf16* out, const float* gate_up, std::size_t rows, std::size_t intermediate,
              cudaStream_t stream) {
  const unsigned parts = static_cast<unsigned>((intermediate / 4 + kThreads - 1) / kThreads);
  launch(stream,
         {.grid = dim3(static_cast<unsigned>(rows), parts == 0 ? 1 : parts), .threads = kThreads},
         silu_mul_kernel, out, gate_up, static_cast<unsigned>(intermediate));
}

}  // namespace engine::kernels::cuda
