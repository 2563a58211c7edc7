// How the matrix products on wgmma store a tile's sums: slices, bias, old value, in that order.
#pragma once

#include "kernels/cuda/products/pipeline.cuh"

namespace engine::kernels::cuda {

struct Output {
  float* out;        // [rows, outputs]
  const bf16* bias;  // [outputs], or null
  unsigned rows, outputs;
  unsigned split;
  bool accumulate;
};

// Adds bias and old value and stores, for the registers first, first + step, ... of the tile's
// register-and-thread list (element e: register e / 256 of thread e % 256), as many as stand before
// `end`. Old values are fetched together: one at a time, each would wait for the store before it.
template <unsigned kCount>
__device__ void store(const Output& p, unsigned row, unsigned output, const float (&sums)[kCount],
                      unsigned first, unsigned end) {
  float old[kCount];
  const auto place = [&](unsigned j) -> float* {
    const unsigned e = first + j * kConsumers, i = e / kConsumers, thread = e % kConsumers;
    const unsigned r = row + tile_row(i, thread), n = output + tile_output(i, thread);
    if (e >= end || r >= p.rows || n >= p.outputs) return nullptr;
    return p.out + std::size_t{r} * p.outputs + n;
  };
#pragma unroll
  for (unsigned j = 0; j < kCount; ++j) {
    const float* out = place(j);
    old[j] = p.accumulate && out != nullptr ? *out : 0.0f;
  }
#pragma unroll
  for (unsigned j = 0; j < kCount; ++j) {
    float* out = place(j);
    if (out == nullptr) continue;
    float sum = sums[j];
    const unsigned e = first + j * kConsumers;
    if (p.bias != nullptr) {
      sum = sum + numerics::to_float(p.bias[output + tile_output(e / kConsumers, e % kConsumers)]);
    }
    *out = p.accumulate ? sum + old[j] : sum;
  }
}

// Adds the cluster's slices, each block a share of the tile, and stores the sums.
template <unsigned kRows, unsigned kBlocks>
__device__ void add_slices(const float (&c)[Tiling<kRows, kBlocks>::kRegisters], float* shared,
                           const Output& p, unsigned row, unsigned output) {
  constexpr unsigned kElements = Tiling<kRows, kBlocks>::kRegisters * kConsumers;
  if (threadIdx.x < kConsumers) {
    // Both warpgroups must be done with the tiles that the slices now overwrite.
    asm volatile("bar.sync 1, %0;" ::"n"(kConsumers) : "memory");
#pragma unroll
    for (unsigned i = 0; i < Tiling<kRows, kBlocks>::kRegisters; ++i)
      shared[i * kConsumers + threadIdx.x] = c[i];
  }
  __syncwarp();
  cluster_sync();
  if (threadIdx.x < kConsumers) {
    // Several elements at once, so that their loads are under way together.
    constexpr unsigned kBatch = Tiling<kRows, kBlocks>::kRegisters < 16 ? 4 : 8;
    const unsigned share = kElements / p.split, begin = cluster_rank() * share;
    for (unsigned base = begin + threadIdx.x; base < begin + share; base += kBatch * kConsumers) {
      float sum[kBatch] = {};
      for (unsigned s = 0; s < p.split; ++s) {
#pragma unroll
        for (unsigned j = 0; j < kBatch; ++j) {
          const unsigned e = base + j * kConsumers;
          if (e >= begin + share) break;
          const float slice = load_from_block(shared_address(shared + e), s);
          sum[j] = s == 0 ? slice : sum[j] + slice;
        }
      }
      store(p, row, output, sum, base, begin + share);
    }
  }
  __syncwarp();
  cluster_sync();  // no block may end while another reads its memory
}

// Stores the tile whose first row and output these are. Every thread of the block, and of the
// cluster, calls it; `consumes` where it has accumulated.
template <unsigned kRows, unsigned kBlocks>
__device__ void store_tile(const float (&c)[Tiling<kRows, kBlocks>::kRegisters],
                           const Pipeline<kRows, kBlocks>& pipeline, const Output& p, unsigned row,
                           unsigned output, bool consumes) {
  if (p.split > 1) {
    add_slices<kRows, kBlocks>(c, reinterpret_cast<float*>(pipeline.stages), p, row, output);
  } else if (consumes) {
    constexpr unsigned kBatch = 4;
#pragma unroll
    for (unsigned i = 0; i < Tiling<kRows, kBlocks>::kRegisters; i += kBatch) {
      const float sums[kBatch] = {c[i], c[i + 1], c[i + 2], c[i + 3]};
      store(p, row, output, sums, i * kConsumers + threadIdx.x, ~0u);
    }
  }
}

}  // namespace engine::kernels::cuda
