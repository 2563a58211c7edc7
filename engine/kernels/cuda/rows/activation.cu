#include <algorithm>

#include "kernels/cuda/device/instructions.cuh"
#include "kernels/cuda/rows/activation.h"

namespace engine::kernels::cuda {
namespace {

using numerics::Activation;

constexpr unsigned kThreads = 256;

// ---- Kernels

// blockIdx.x is the row, blockIdx.y a part of it.
template <Activation kActivation>
__global__ void __launch_bounds__(kThreads)
    activate_kernel(bf16* out, const float* x, unsigned intermediate) {
  let_next_begin();
  wait_for_previous();
  constexpr bool kGated = kActivation != Activation::kGelu;
  const std::size_t row = blockIdx.x;
  const float* gate = x + row * (kGated ? 2 : 1) * intermediate;
  const float* up = kGated ? gate + intermediate : gate;
  const auto value = [](float g, float u) { return numerics::activate<kActivation>(g, u); };
  out += row * intermediate;
  const unsigned first = blockIdx.y * kThreads + threadIdx.x, step = gridDim.y * kThreads;
  if (intermediate % 4 == 0) {
    for (unsigned i = first; i < intermediate / 4; i += step) {
      const float4 g = reinterpret_cast<const float4*>(gate)[i];
      const float4 u = reinterpret_cast<const float4*>(up)[i];
      reinterpret_cast<uint2*>(out)[i] = {round_bf16x2(value(g.x, u.x), value(g.y, u.y)),
                                          round_bf16x2(value(g.z, u.z), value(g.w, u.w))};
    }
  } else {
    for (unsigned i = first; i < intermediate; i += step)
      out[i] = round_bf16(value(gate[i], up[i]));
  }
}

__global__ void __launch_bounds__(kThreads)
    scale_logits_kernel(float* logits, std::size_t count, float divisor, float cap) {
  let_next_begin();
  wait_for_previous();
  const std::size_t step = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const float value = logits[i] / divisor;
    logits[i] = cap == 0.0f ? value : numerics::soft_cap(value, cap);
  }
}

template <Activation kActivation>
void launch_activate(bf16* out, const float* x, std::size_t rows, std::size_t intermediate,
                     cudaStream_t stream) {
  const unsigned parts = static_cast<unsigned>((intermediate / 4 + kThreads - 1) / kThreads);
  launch(stream,
         {.grid = dim3(static_cast<unsigned>(rows), parts == 0 ? 1 : parts), .threads = kThreads},
         activate_kernel<kActivation>, out, x, static_cast<unsigned>(intermediate));
}

}  // namespace

// ---- Launchers

void activate(bf16* out, const float* x, std::size_t rows, std::size_t intermediate,
              Activation activation, cudaStream_t stream) {
  switch (activation) {
    case Activation::kSiluGated:
      return launch_activate<Activation::kSiluGated>(out, x, rows, intermediate, stream);
    case Activation::kGeluGated:
      return launch_activate<Activation::kGeluGated>(out, x, rows, intermediate, stream);
    case Activation::kGelu:
      return launch_activate<Activation::kGelu>(out, x, rows, intermediate, stream);
  }
}

void scale_logits(float* logits, std::size_t count, float divisor, float cap, cudaStream_t stream) {
  constexpr std::size_t kMostBlocks = 1024;
  const std::size_t blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  launch(stream, {.grid = dim3(static_cast<unsigned>(blocks)), .threads = kThreads},
         scale_logits_kernel, logits, count, divisor, cap);
}

}  // namespace engine::kernels::cuda
