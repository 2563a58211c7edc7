#include <algorithm>

#include "kernels/cuda/experts/experts.h"
#include "kernels/cuda/products/output.cuh"

namespace engine::kernels::cuda {
namespace {

// ---- Kernels
//
// The kernel of matmul.cu over the rows of all experts: a tile is up to kRows places of one expert
// and 128 of its outputs. Which tiles there are is known to the device only, so the grid is large
// enough for any, and blocks without one end at once.

struct Problem {
  Output output;               // rows: P
  const std::int32_t* begins;  // [E + 1]
  unsigned experts;
  unsigned slice;      // inner elements of a slice
  unsigned row_tiles;  // more than there can be
};

struct ExpertTile {
  unsigned expert, place, end;  // nothing: place == end
};

// Tile `index` of the experts' tiles in ascending order. One warp calls it.
template <unsigned kRows>
__device__ void find_tile(ExpertTile& found, const Problem& p, unsigned index) {
  const unsigned lane = threadIdx.x % kWarp;
  if (lane == 0) found = {0, 0, 0};
  __syncwarp();
  unsigned before = 0;  // tiles of the experts so far
  for (unsigned first = 0; first < p.experts && before <= index; first += kWarp) {
    const unsigned e = first + lane;
    const unsigned begin = e < p.experts ? static_cast<unsigned>(p.begins[e]) : 0;
    const unsigned end = e < p.experts ? static_cast<unsigned>(p.begins[e + 1]) : 0;
    const unsigned tiles = (end - begin + kRows - 1) / kRows;
    unsigned through = tiles;  // of this lane's and the lower ones
    for (unsigned distance = 1; distance < kWarp; distance *= 2) {
      const unsigned lower = __shfl_up_sync(~0u, through, distance);
      through += lane >= distance ? lower : 0;
    }
    const unsigned own = before + through - tiles;
    if (own <= index && index < own + tiles) found = {e, begin + (index - own) * kRows, end};
    before += __shfl_sync(~0u, through, kWarp - 1);
  }
}

template <unsigned kRows, unsigned kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks)
    experts_kernel(const __grid_constant__ CUtensorMap weights,
                   const __grid_constant__ CUtensorMap x, const Problem p) {
  extern __shared__ std::byte shared[];
  __shared__ ExpertTile found;
  const Pipeline<kRows, kBlocks> pipeline(shared);
  const unsigned slice = blockIdx.x % p.output.split, index = blockIdx.x / p.output.split;
  const unsigned output = index / p.row_tiles * kTileOutputs;
  const unsigned warp = __shfl_sync(~0u, threadIdx.x / kWarp, 0), lane = threadIdx.x % kWarp;
  if (threadIdx.x == 0) pipeline.initialise();
  let_next_begin();
  wait_for_previous();
  if (warp == 0) find_tile<kRows>(found, p, index % p.row_tiles);
  __syncthreads();
  const ExpertTile tile = found;
  if (tile.place == tile.end) return;  // so does the whole cluster

  float c[Tiling<kRows, kBlocks>::kRegisters] = {};
  if (warp == kConsumers / kWarp) {
    if (lane == 0) {
      const unsigned steps = (p.slice + kTileInner - 1) / kTileInner;
      const unsigned weight_row = tile.expert * p.output.outputs + output;
      produce(pipeline, &x, tile.place, slice * p.slice, steps, [&](unsigned stage, unsigned k) {
        copy_box(pipeline.weights(stage), &weights, k, weight_row, &pipeline.full[stage]);
      });
    }
    __syncwarp();
  } else {
    multiply<kRows, kBlocks>(c, pipeline, warp / 4, p.slice, lane == 0);
  }
  Output own = p.output;
  own.rows = tile.end;  // what lies beyond is the next expert's
  store_tile<kRows, kBlocks>(c, pipeline, own, tile.place, output, warp < kConsumers / kWarp);
}

// ---- Launchers

struct ExpertsArgs {
  float* out;
  const bf16* x;
  const DeviceExperts& w;
  const RoutedRows& routed;
  std::size_t split;
};

template <unsigned kRows, unsigned kBlocks>
void launch_experts(const ExpertsArgs& args, cudaStream_t stream) {
  using T = Tiling<kRows, kBlocks>;
  static const LargeLaunches allowed(experts_kernel<kRows, kBlocks>, T::kSharedBytes);
  const std::size_t pairs = args.routed.pairs(), outputs = args.w.outputs();
  // Each expert that has rows has at most one tile that is not full.
  const std::size_t row_tiles = pairs / kRows + std::min(pairs, args.w.experts());
  const Problem p{.output = {.out = args.out,
                             .bias = nullptr,
                             .rows = narrow(pairs),
                             .outputs = narrow(outputs),
                             .split = narrow(args.split),
                             .accumulate = false},
                  .begins = args.routed.routes.begins,
                  .experts = narrow(args.w.experts()),
                  .slice = narrow(args.w.inner() / args.split),
                  .row_tiles = narrow(row_tiles)};
  const std::size_t tiles = (outputs + kTileOutputs - 1) / kTileOutputs * row_tiles;
  launch(stream,
         {.grid = dim3(narrow(tiles * args.split)),
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .cluster = p.output.split},
         experts_kernel<kRows, kBlocks>, args.w.stacked().map(),
         tile_map(args.x, pairs, args.w.inner(), kRows), p);
}

}  // namespace

// Changes the speed, never a bit. Rows: what an expert gets on average, and room for more.
void matmul_experts(float* out, const bf16* x, const DeviceExperts& w, const RoutedRows& routed,
                    std::size_t split, cudaStream_t stream) {
  const ExpertsArgs args{out, x, w, routed, split};
  const std::size_t average = routed.pairs() / w.experts();
  if (routed.rows <= 8) return launch_experts<8, 2>(args, stream);  // no expert has more
  if (average <= 24) return launch_experts<32, 2>(args, stream);
  if (average <= 48) return launch_experts<64, 2>(args, stream);
  return launch_experts<128, 2>(args, stream);
}

}  // namespace engine::kernels::cuda
