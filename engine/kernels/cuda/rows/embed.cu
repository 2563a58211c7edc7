#include <algorithm>

#include "kernels/cuda/device/instructions.cuh"
#include "kernels/cuda/rows/embed.h"

namespace engine::kernels::cuda {
namespace {

constexpr std::size_t kBatch = 512;  // tokens of one launch

struct Tokens {
  Token ids[kBatch];
};

// ---- Kernels

__global__ void embed_kernel(float* out, const bf16* table, const __grid_constant__ Tokens tokens,
                             unsigned hidden, float scale) {
  let_next_begin();
  wait_for_previous();
  const bf16* row = table + std::size_t(tokens.ids[blockIdx.x]) * hidden;
  out += std::size_t{blockIdx.x} * hidden;
  for (unsigned i = threadIdx.x; i < hidden; i += blockDim.x)
    out[i] = numerics::to_float(row[i]) * scale;
}

}  // namespace

// ---- Launchers

void embed(float* out, const bf16* table, std::span<const Token> tokens, std::size_t hidden,
           float scale, cudaStream_t stream) {
  while (!tokens.empty()) {
    const std::size_t count = std::min(tokens.size(), kBatch);
    Tokens batch;
    std::copy_n(tokens.begin(), count, batch.ids);
    launch(stream, {.grid = dim3(static_cast<unsigned>(count)), .threads = 256}, embed_kernel, out,
           table, batch, static_cast<unsigned>(hidden), scale);
    out += count * hidden;
    tokens = tokens.subspan(count);
  }
}

}  // namespace engine::kernels::cuda
