#include "kernels/cuda/products/wide.h"

#include <algorithm>

#include "kernels/cuda/products/wide_ends.cuh"

namespace engine::kernels::cuda {
namespace {

using namespace wide;

// ---- Kernels

// The maps of a launch.
struct Maps {
  CUtensorMap weights, x, out;
};

// One tile of kTile outputs.
template <unsigned kOutputs, unsigned kTile, typename End>
__device__ void compute_tile(const Pipeline<kOutputs>& pipeline, const Work& work, const End& end,
                             const Place& at, const CUtensorMap* out, unsigned& step) {
  float c[kTile / 2] = {};
  typename End::template Early<kTile> early;
  multiply<kOutputs, true, kTile>(c, pipeline, step, work.slice / kInner,
                                  [&] { end.template begin<kTile>(early, at); });
  end.template end<kTile>(c, early, at, Boxes(pipeline.staging, out, at.row));
}

template <unsigned kOutputs, typename End>
__global__ void __launch_bounds__(kThreads, 1)
    wide_kernel(const __grid_constant__ Maps maps, const Work work, const End end) {
  extern __shared__ std::byte shared[];
  const Pipeline<kOutputs> pipeline(shared);
  if (threadIdx.x == 0) pipeline.initialise(2);
  cluster_sync();
  let_next_begin();
  if (threadIdx.x >= kConsumers) {
    give_up_registers<40>();
    if (threadIdx.x == kConsumers) {
      Producer<kOutputs, true>(pipeline, work, &maps.weights, &maps.x,
                               end.old != nullptr ? &maps.out : nullptr)
          .run();
    }
    __syncwarp();
  } else {
    take_registers<232>();
    unsigned step = 0;
    wait_for_previous();
    for (unsigned unit = blockIdx.x / 2; unit < work.units; unit += gridDim.x / 2) {
      const Tile tile = tile_at(work, unit);
      const Place at{(2 * tile.row + cluster_rank()) * kRows,
                     tile.output * work.tile_outputs + tile.half * Tiling<kOutputs>::kBoxOutputs,
                     work.second_side};
      if (!tile.is_half) {
        compute_tile<kOutputs, kOutputs>(pipeline, work, end, at, &maps.out, step);
      } else if constexpr (kOutputs == 256) {
        compute_tile<kOutputs, kOutputs / 2>(pipeline, work, end, at, &maps.out, step);
      }
    }
    store_box_wait<0>();
  }
  cluster_sync();  // no block may end while the other one still fills or frees its stages
}

// Two slices of K, one a block of the cluster: each adds and stores one half of the tile.
__global__ void __launch_bounds__(kThreads, 1)
    wide_sliced_kernel(const __grid_constant__ Maps maps, const Work work, const Sums end) {
  constexpr unsigned kOutputs = 256, kHalf = kOutputs / 2;
  extern __shared__ std::byte shared[];
  const Pipeline<kOutputs> pipeline(shared);
  if (threadIdx.x == 0) pipeline.initialise(1);
  __syncthreads();
  let_next_begin();
  if (threadIdx.x >= kConsumers) {
    give_up_registers<40>();
    if (threadIdx.x == kConsumers) {
      Producer<kOutputs, false>(pipeline, work, &maps.weights, &maps.x,
                                end.old != nullptr ? &maps.out : nullptr)
          .run();
    }
    __syncwarp();
    cluster_sync();
    cluster_sync();
  } else {
    take_registers<232>();
    const unsigned rank = cluster_rank();
    const Tile tile = tile_at(work, blockIdx.x / 2);
    const Place at{tile.row * kRows, tile.output * work.tile_outputs + rank * kHalf, kHalf / 2};
    float c[kOutputs / 2] = {};
    Sums::Early<kHalf> early;
    unsigned step = 0;
    multiply<kOutputs, false, kOutputs>(c, pipeline, step, work.slice / kInner, [&] {
      wait_for_previous();
      end.begin<kHalf>(early, at);
    });
    cluster_sync();  // both blocks are done with the stages, which now take sums
    auto* sums = reinterpret_cast<float4*>(pipeline.stages) + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < kHalf / 2; i += 4) {
      const auto other = [&](unsigned e) { return rank == 0 ? c[kHalf / 2 + i + e] : c[i + e]; };
      store_to_block(shared_address(sums + i / 4 * kConsumers), 1 - rank,
                     {other(0), other(1), other(2), other(3)});
    }
    cluster_sync();
    float half[kHalf / 2];
#pragma unroll
    for (unsigned i = 0; i < kHalf / 2; i += 4) {
      const float4 other = sums[i / 4 * kConsumers];
      const float others[4] = {other.x, other.y, other.z, other.w};
#pragma unroll
      for (unsigned e = 0; e < 4; ++e)
        half[i + e] = (rank == 0 ? c[i + e] : c[kHalf / 2 + i + e]) + others[e];
    }
    end.end<kHalf>(half, early, at, Boxes(pipeline.staging, &maps.out, at.row));
    store_box_wait<0>();
  }
}

unsigned rounded_up(unsigned a, unsigned b) {
  return (a + b - 1) / b;
}

// ---- Launchers

// How a launch is cut: rows of a unit, outputs from a tile to the next and from a tile's first side
// to its second, clusters that run at the same time.
struct Cut {
  unsigned unit_rows, tile_outputs, second_side, clusters;
};

struct Plan {
  Work work;
  double cost;  // in times of a tile of 256 outputs
};

template <unsigned kOutputs>
Plan plan(std::size_t rows, std::size_t outputs, std::size_t slice, const Cut& cut) {
  const unsigned row_units = rounded_up(narrow(rows), cut.unit_rows);
  const unsigned output_tiles = rounded_up(narrow(outputs), kOutputs);
  const unsigned tiles = row_units * output_tiles, last = tiles % cut.clusters;
  const bool halves = kOutputs == 256 && last > 0 && 2 * last <= cut.clusters;
  const double rounds = halves ? tiles / cut.clusters + 0.5 : rounded_up(tiles, cut.clusters);
  return {.work = {.slice = narrow(slice),
                   .row_units = row_units,
                   .output_tiles = output_tiles,
                   .whole = halves ? tiles - last : tiles,
                   .units = halves ? tiles + last : tiles,
                   .tile_outputs = cut.tile_outputs,
                   .second_side = cut.second_side},
          .cost = rounds * kOutputs / 256};
}

// What the kernels for fewer rows would cost, measured in the same times: blocks of 128 x 128, two
// a multiprocessor.
double cost_otherwise(std::size_t rows, std::size_t outputs) {
  const unsigned tiles = rounded_up(narrow(rows), 128) * rounded_up(narrow(outputs), 128);
  return 1.12 * rounded_up(tiles, 2 * multiprocessors());
}

// That run at the same time.
template <unsigned kOutputs, typename End>
unsigned clusters_of() {
  constexpr auto kBytes = Tiling<kOutputs>::kSharedBytes;
  static const LargeLaunches allowed(wide_kernel<kOutputs, End>, kBytes);
  static const unsigned count =
      active_clusters(wide_kernel<kOutputs, End>,
                      {.grid = {}, .threads = kThreads, .shared_bytes = kBytes, .cluster = 2});
  return count;
}

template <unsigned kOutputs, typename End>
void launch_wide(const DeviceMatrix& w, const bf16* x, const CUtensorMap& out, const Work& work,
                 const End& end, cudaStream_t stream) {
  using T = Tiling<kOutputs>;
  const unsigned clusters = std::min(clusters_of<kOutputs, End>(), work.units);
  launch(stream,
         {.grid = dim3(2 * clusters),
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .cluster = 2},
         wide_kernel<kOutputs, End>,
         Maps{tile_map(w.data(), w.outputs(), w.inner(), T::kBoxOutputs),
              tile_map(x, end.rows, w.inner(), kRows), out},
         work, end);
}

void launch_sliced(const MatmulArgs& args, const Sums& end, cudaStream_t stream) {
  using T = Tiling<256>;
  static const LargeLaunches allowed(wide_sliced_kernel, T::kSharedBytes);
  const Work work =
      plan<256>(args.rows, args.w.outputs(), args.w.inner() / 2,
                {.unit_rows = kRows, .tile_outputs = 256, .second_side = 128, .clusters = 1})
          .work;
  launch(stream,
         {.grid = dim3(2 * work.units),
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .cluster = 2},
         wide_sliced_kernel,
         Maps{tile_map(args.w.data(), args.w.outputs(), args.w.inner(), T::kBoxOutputs),
              tile_map(args.x, args.rows, args.w.inner(), kRows),
              tile_map(args.out, args.rows, args.w.outputs(), kBoxRows)},
         work, end);
}

constexpr std::size_t kFewestRows = 256;
constexpr unsigned kPairRows = 2 * kRows;  // of a cluster

}  // namespace

bool matmul_wide(const MatmulArgs& args, cudaStream_t stream) {
  const std::size_t outputs = args.w.outputs(), slice = args.w.inner() / args.split;
  if (args.rows < kFewestRows || args.split > 2 || slice % kInner != 0 || outputs % 8 != 0)
    return false;
  const Sums end{args.bias, args.accumulate ? args.out : nullptr, narrow(args.rows),
                 narrow(outputs)};
  if (args.split == 2) {
    launch_sliced(args, end, stream);
    return true;
  }
  const Plan wider = plan<256>(args.rows, outputs, slice,
                               {.unit_rows = kPairRows,
                                .tile_outputs = 256,
                                .second_side = 128,
                                .clusters = clusters_of<256, Sums>()});
  const Plan slimmer = plan<192>(args.rows, outputs, slice,
                                 {.unit_rows = kPairRows,
                                  .tile_outputs = 192,
                                  .second_side = 96,
                                  .clusters = clusters_of<192, Sums>()});
  if (std::min(wider.cost, slimmer.cost) > cost_otherwise(args.rows, outputs)) return false;
  const CUtensorMap out = tile_map(args.out, args.rows, outputs, kBoxRows);
  if (slimmer.cost < 0.95 * wider.cost) {
    launch_wide<192>(args.w, args.x, out, slimmer.work, end, stream);
  } else {
    launch_wide<256>(args.w, args.x, out, wider.work, end, stream);
  }
  return true;
}

bool matmul_wide_gated(const GatedArgs& args, cudaStream_t stream) {
  const std::size_t outputs = args.gate_up.outputs(), intermediate = outputs / 2;
  const std::size_t inner = args.gate_up.inner();
  if (args.rows < kFewestRows || inner % kInner != 0 || intermediate % 128 != 0) return false;
  const Plan chosen = plan<256>(args.rows, outputs, inner,
                                {.unit_rows = kPairRows,
                                 .tile_outputs = 128,
                                 .second_side = narrow(intermediate),
                                 .clusters = clusters_of<256, Gated>()});
  if (chosen.cost > cost_otherwise(args.rows, outputs)) return false;
  launch_wide<256>(args.gate_up, args.x, tile_map(args.out, args.rows, intermediate, kBoxRows),
                   chosen.work, Gated{narrow(args.rows)}, stream);
  return true;
}

}  // namespace engine::kernels::cuda
