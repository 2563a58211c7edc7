// What the matrix products on wgmma share: tiles, the pipeline that keeps them coming, the chain of
// one slice of K.
#pragma once

#include "kernels/cuda/device/instructions.cuh"
#include "kernels/cuda/device/wgmma.cuh"
#include "kernels/cuda/products/matrix.h"

namespace engine::kernels::cuda {

inline constexpr unsigned kConsumers = 256;  // threads of the two warpgroups
inline constexpr unsigned kThreads = kConsumers + kWarp;
inline constexpr unsigned kWeightBytes = kTileOutputs * kTileInner * sizeof(bf16);

// kBlocks: blocks of a multiprocessor.
template <unsigned kRows, unsigned kBlocks>
struct Tiling {
  static constexpr unsigned kRowBytes = kRows * kTileInner * sizeof(bf16);
  static constexpr unsigned kStageBytes = kWeightBytes + kRowBytes;
  static constexpr unsigned kStages = (220 * 1024 / kBlocks - 2048) / kStageBytes;
  static constexpr unsigned kRegisters = kRows / 2;  // accumulators of a consumer thread
  static constexpr unsigned kSharedBytes = kStages * kStageBytes + 1024 + 2 * kStages * 8;
  static_assert(kRegisters * kConsumers * sizeof(float) <= kStages * kStageBytes);
};

// Where accumulator register i of consumer thread `thread` lies in the tile.
__device__ inline unsigned tile_output(unsigned i, unsigned thread) {
  return thread / kWarp * 16 + thread % kWarp / 4 + (i & 2) * 4;
}
__device__ inline unsigned tile_row(unsigned i, unsigned thread) {
  return i / 4 * 8 + thread % 4 * 2 + (i & 1);
}

template <unsigned kRows, unsigned kBlocks>
struct Pipeline {
  using T = Tiling<kRows, kBlocks>;
  std::byte* stages;
  std::uint64_t* full;   // the stage's tiles have arrived
  std::uint64_t* empty;  // every consumer warp has multiplied them

  __device__ explicit Pipeline(std::byte* shared)
      : stages(shared + (1024 - shared_address(shared) % 1024) % 1024),
        full(reinterpret_cast<std::uint64_t*>(stages + T::kStages * T::kStageBytes)),
        empty(full + T::kStages) {}

  __device__ void initialise() const {
    for (unsigned s = 0; s < T::kStages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], kConsumers / kWarp);
    }
    barrier_init_fence();
  }
  __device__ std::byte* weights(unsigned stage) const { return stages + stage * T::kStageBytes; }
  __device__ std::byte* rows(unsigned stage) const { return weights(stage) + kWeightBytes; }
};

// The weights do not depend on the kernel before: the first tiles are under way before it ends.
// copy_weights(stage, k) fills the stage's weight tile from inner element k on.
template <unsigned kRows, unsigned kBlocks, typename CopyWeights>
__device__ void produce(const Pipeline<kRows, kBlocks>& pipeline, const CUtensorMap* x,
                        unsigned row, unsigned k, unsigned steps, CopyWeights&& copy_weights) {
  using T = Tiling<kRows, kBlocks>;
  const unsigned ahead = steps < T::kStages ? steps : T::kStages;
  for (unsigned i = 0; i < ahead; ++i) {
    barrier_arrive_expecting(&pipeline.full[i], T::kStageBytes);
    copy_weights(i, k + i * kTileInner);
  }
  wait_for_previous();
  for (unsigned i = 0; i < ahead; ++i) {
    copy_box(pipeline.rows(i), x, k + i * kTileInner, row, &pipeline.full[i]);
  }
  for (unsigned i = ahead; i < steps; ++i) {
    const unsigned stage = i % T::kStages;
    barrier_wait(&pipeline.empty[stage], (i / T::kStages + 1) & 1);
    barrier_arrive_expecting(&pipeline.full[stage], T::kStageBytes);
    copy_weights(stage, k + i * kTileInner);
    copy_box(pipeline.rows(stage), x, k + i * kTileInner, row, &pipeline.full[stage]);
  }
}

// The products of one stage, 16 inner elements each.
template <unsigned kRows, unsigned kBlocks>
__device__ void multiply_stage(float (&c)[Tiling<kRows, kBlocks>::kRegisters],
                               const Pipeline<kRows, kBlocks>& pipeline, unsigned stage,
                               unsigned warpgroup, unsigned products) {
  const Descriptor a =
      tile_descriptor(shared_address(pipeline.weights(stage)) + warpgroup * (kWeightBytes / 2));
  const Descriptor b = tile_descriptor(shared_address(pipeline.rows(stage)));
  pin_registers(c);
  wgmma_begin();
#pragma unroll
  for (unsigned k = 0; k < kTileInner / 16; ++k) {
    if (k < products) Wgmma<kRows>::multiply(c, a + 2 * k, b + 2 * k);
  }
  wgmma_commit();
  pin_registers(c);
}

// The chain of one slice. Only the last step can hold fewer than 64 inner elements; what its tile
// holds beyond them belongs to another slice.
template <unsigned kRows, unsigned kBlocks>
__device__ void multiply(float (&c)[Tiling<kRows, kBlocks>::kRegisters],
                         const Pipeline<kRows, kBlocks>& pipeline, unsigned warpgroup,
                         unsigned slice, bool reports) {
  using T = Tiling<kRows, kBlocks>;
  const unsigned steps = slice / kTileInner;
  for (unsigned i = 0; i < steps; ++i) {
    barrier_wait(&pipeline.full[i % T::kStages], i / T::kStages & 1);
    multiply_stage<kRows, kBlocks>(c, pipeline, i % T::kStages, warpgroup, kTileInner / 16);
    // The step before has been read; this one keeps the matrix unit busy meanwhile.
    wgmma_wait<1>();
    if (i > 0 && reports) barrier_arrive(&pipeline.empty[(i - 1) % T::kStages]);
  }
  wgmma_wait<0>();
  pin_registers(c);
  if (slice % kTileInner != 0) {
    barrier_wait(&pipeline.full[steps % T::kStages], steps / T::kStages & 1);
    multiply_stage<kRows, kBlocks>(c, pipeline, steps % T::kStages, warpgroup,
                                   slice % kTileInner / 16);
    wgmma_wait<0>();
    pin_registers(c);
  }
}

}  // namespace engine::kernels::cuda
