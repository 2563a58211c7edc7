// The products of many rows: tiles, pipeline and order of work.
//
// A block computes 128 rows of up to 256 outputs. Two warpgroups multiply 64 rows each, all outputs
// in registers; one thread of a third keeps four stages of tiles full. The two blocks of a cluster
// take neighbouring rows of the same outputs and fetch half of the weights each, for both; or,
// where K is in two slices, they take one slice each of the same tile. Blocks stay for several
// tiles. Source of the schedule: Thakkar et al., CUTLASS 3, "warp-specialised persistent
// cooperative" kernels, 2023.
#pragma once

#include "kernels/cuda/device/instructions.cuh"
#include "kernels/cuda/device/wgmma.cuh"
#include "kernels/cuda/products/matrix.h"

namespace engine::kernels::cuda::wide {

inline constexpr unsigned kGroup = 128;             // threads of a warpgroup
inline constexpr unsigned kConsumers = 2 * kGroup;  // and after them the producer's
inline constexpr unsigned kThreads = kConsumers + kGroup;
inline constexpr unsigned kWarps = kConsumers / kWarp;  // that multiply
inline constexpr unsigned kRows = 128;
inline constexpr unsigned kInner = 64;
inline constexpr unsigned kStages = 4;
inline constexpr unsigned kBoxes = 4;     // of weights in a tile
inline constexpr unsigned kBand = 8;      // row units whose tiles are taken together
inline constexpr unsigned kBoxRows = 16;  // of a warp's results, which leave in boxes of 128 bytes
inline constexpr unsigned kBoxBytes = kBoxRows * 128;
inline constexpr unsigned kWarpBoxes = 2;  // of a warp's in shared memory
inline constexpr unsigned kWarpStaging = kWarpBoxes * kBoxBytes;

template <unsigned kOutputs>
struct Tiling {
  static constexpr unsigned kRowBytes = kRows * kInner * sizeof(bf16);
  static constexpr unsigned kBoxOutputs = kOutputs / kBoxes;
  static constexpr unsigned kBoxBytes = kBoxOutputs * kInner * sizeof(bf16);
  static constexpr unsigned kStageBytes = kRowBytes + kBoxes * kBoxBytes;
  static constexpr unsigned kSharedBytes =
      1024 + kStages * kStageBytes + kWarps * kWarpStaging + 2 * kStages * 8;
  static_assert(kBoxBytes % 1024 == 0);
};

// What all tiles of a launch have in common.
struct Work {
  unsigned slice;         // inner elements of a slice
  unsigned row_units;     // along the rows: of one block, or of both blocks of a cluster
  unsigned output_tiles;  // along the outputs
  unsigned whole;         // tiles (of a cluster) that are computed whole; after them come halves
  unsigned units;         // whole tiles and halves
  // A tile has two sides of two boxes of weights each, and half a tile one box of each side.
  unsigned tile_outputs;  // from the first output of a tile to that of the next
  unsigned second_side;   // from the first output of a side to that of the other
};

struct Tile {
  unsigned row;     // unit along the rows
  unsigned output;  // tile along the outputs
  bool is_half;
  unsigned half;  // which
};

// Tiles that run at the same time share rows and outputs, so that the second level cache serves
// them: bands of kBand row units, along the outputs.
__device__ inline Tile tile_at(const Work& w, unsigned unit) {
  Tile tile{0, 0, unit >= w.whole, 0};
  if (tile.is_half) {
    tile.half = (unit - w.whole) % 2;
    unit = w.whole + (unit - w.whole) / 2;
  }
  const unsigned band = unit / (kBand * w.output_tiles), within = unit % (kBand * w.output_tiles);
  const unsigned left = w.row_units - band * kBand, rows = left < kBand ? left : kBand;
  tile.row = band * kBand + within % rows;
  tile.output = within / rows;
  return tile;
}

template <unsigned kOutputs>
struct Pipeline {
  using T = Tiling<kOutputs>;
  std::byte* stages;
  std::byte* staging;
  std::uint64_t* full;   // the stage's tiles have arrived
  std::uint64_t* empty;  // every warp that multiplies them, of both blocks, has

  __device__ explicit Pipeline(std::byte* shared)
      : stages(shared + (1024 - shared_address(shared) % 1024) % 1024),
        staging(stages + kStages * T::kStageBytes),
        full(reinterpret_cast<std::uint64_t*>(staging + kWarps * kWarpStaging)),
        empty(full + kStages) {}

  __device__ void initialise(unsigned blocks) const {
    for (unsigned s = 0; s < kStages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], blocks * kWarps);
    }
    barrier_init_fence();
  }
  __device__ std::byte* rows(unsigned stage) const { return stages + stage * T::kStageBytes; }
  __device__ std::byte* weights(unsigned stage) const { return rows(stage) + T::kRowBytes; }
};

// One thread's: fills stages. kShared: the cluster's blocks fetch the weights for each other.
template <unsigned kOutputs, bool kShared>
class Producer {
 public:
  using T = Tiling<kOutputs>;
  __device__ Producer(const Pipeline<kOutputs>& pipeline, const Work& work,
                      const CUtensorMap* weights, const CUtensorMap* x, const CUtensorMap* old)
      : pipeline_(pipeline),
        work_(work),
        weights_(weights),
        x_(x),
        old_(old),
        rank_(cluster_rank()) {}

  __device__ void run() {
    prefetch_map(weights_);
    prefetch_map(x_);
    const unsigned steps = work_.slice / kInner;
    unsigned unit = blockIdx.x / 2;
    if (unit >= work_.units) return;
    // The weights do not depend on the kernel before: the first are under way before it ends.
    const unsigned ahead = steps < kStages ? steps : kStages;
    Tile tile = tile_at(work_, unit);
    for (unsigned k = 0; k < ahead; ++k)
      copy_weights(tile, k, k);
    wait_for_previous();
    for (unsigned k = 0; k < ahead; ++k)
      copy_rows(tile, k, k);
    unsigned step = ahead;  // of all tiles
    for (unsigned k = ahead; unit < work_.units; k = 0) {
      for (tile = tile_at(work_, unit); k < steps; ++k, ++step) {
        const unsigned stage = step % kStages;
        if (step >= kStages) barrier_wait(&pipeline_.empty[stage], (step / kStages + 1) & 1);
        copy_weights(tile, k, stage);
        copy_rows(tile, k, stage);
        if (old_ != nullptr) prefetch_old(tile, k - kStages);
      }
      unit += gridDim.x / 2;
    }
  }

 private:
  __device__ unsigned inner(unsigned k) const {
    return (kShared ? 0 : rank_ * work_.slice) + k * kInner;
  }
  __device__ void copy_weights(const Tile& tile, unsigned k, unsigned stage) const {
    const unsigned boxes = tile.is_half ? kBoxes / 2 : kBoxes;
    std::uint64_t* full = &pipeline_.full[stage];
    barrier_arrive_expecting(full, T::kRowBytes + boxes * T::kBoxBytes);
    const unsigned own = kShared ? boxes / 2 : boxes, first = kShared ? rank_ * own : 0;
    for (unsigned b = first; b < first + own; ++b) {
      std::byte* to = pipeline_.weights(stage) + b * T::kBoxBytes;
      if constexpr (kShared) {
        copy_box_to(3, to, weights_, inner(k), weight_row(tile, b, boxes), full);
      } else {
        copy_box(to, weights_, inner(k), weight_row(tile, b, boxes), full);
      }
    }
  }
  __device__ void copy_rows(const Tile& tile, unsigned k, unsigned stage) const {
    const unsigned row = kShared ? 2 * tile.row + rank_ : tile.row;
    copy_box(pipeline_.rows(stage), x_, inner(k), row * kRows, &pipeline_.full[stage]);
  }
  // What the sums are added to, a box a step.
  __device__ void prefetch_old(const Tile& tile, unsigned box) const {
    constexpr unsigned kAlong = kOutputs / 32;
    if (box >= kRows / kBoxRows * kAlong) return;
    const unsigned row = kShared ? 2 * tile.row + rank_ : tile.row;
    prefetch_box(old_, tile.output * work_.tile_outputs + box % kAlong * 32,
                 row * kRows + box / kAlong * kBoxRows);
  }
  __device__ unsigned weight_row(const Tile& tile, unsigned box, unsigned boxes) const {
    const unsigned side = box / (boxes / 2), within = box % (boxes / 2) + tile.half;
    return tile.output * work_.tile_outputs + side * work_.second_side + within * T::kBoxOutputs;
  }

  const Pipeline<kOutputs>& pipeline_;
  const Work& work_;
  const CUtensorMap* weights_;
  const CUtensorMap* x_;
  const CUtensorMap* old_;  // of the results, or null
  unsigned rank_;
};

// A consumer warpgroup's chain over one slice: 64 rows of kOutputs / (1 or 2) outputs. `step`
// counts the stages of all tiles. kShared as in Producer.
// before_end() is called while the last products run.
template <unsigned kOutputs, bool kShared, unsigned kColumns, typename BeforeEnd>
__device__ void multiply(float (&c)[kColumns / 2], const Pipeline<kOutputs>& pipeline,
                         unsigned& step, unsigned steps, BeforeEnd&& before_end) {
  const unsigned warpgroup = threadIdx.x / kGroup, lane = threadIdx.x % kWarp;
  const auto release = [&](unsigned stage) {
    if constexpr (kShared) {
      if (lane < 2) barrier_arrive_at_block(&pipeline.empty[stage], lane);
    } else {
      if (lane == 0) barrier_arrive(&pipeline.empty[stage]);
    }
  };
  for (unsigned k = 0; k < steps; ++k, ++step) {
    const unsigned stage = step % kStages;
    barrier_wait(&pipeline.full[stage], step / kStages & 1);
    const Descriptor a = tile_descriptor(shared_address(pipeline.rows(stage)) +
                                         warpgroup * (Tiling<kOutputs>::kRowBytes / 2));
    const Descriptor b = tile_descriptor(shared_address(pipeline.weights(stage)));
    pin_registers(c);
    wgmma_begin();
#pragma unroll
    for (unsigned i = 0; i < kInner / 16; ++i)
      Wgmma<kColumns>::multiply(c, a + 2 * i, b + 2 * i, k > 0 || i > 0);
    wgmma_commit();
    pin_registers(c);
    // The step before has been read; this one keeps the matrix unit busy meanwhile.
    wgmma_wait<1>();
    if (k > 0) release((step - 1) % kStages);
  }
  before_end();
  wgmma_wait<0>();
  pin_registers(c);
  release((step - 1) % kStages);
}

}  // namespace engine::kernels::cuda::wide
