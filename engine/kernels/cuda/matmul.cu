#include "kernels/cuda/matmul.h"
#include "kernels/cuda/matmul_pipeline.cuh"
#include "kernels/cuda/matmul_skinny.h"

namespace engine::kernels::cuda {
namespace {

// ---- Kernels
//
// One kernel for every row count but those of matmul_skinny.h. A block computes 128 outputs of
// kRows rows for one slice of K, as the transposed product: the weights are wgmma's A (128 x 64
// tiles), the rows of x its B, so that one decode row costs a tile of 8 columns and not one of 64
// rows. A producer warp keeps the pipeline of tiles full; two warpgroups multiply. The `split`
// blocks of a tile form a cluster and add their slices through each other's shared memory,
// ascending.

struct Problem {
  float* out;
  const bf16* bias;
  unsigned rows, outputs;
  unsigned slice;      // inner elements of a slice
  unsigned row_tiles;  // tiles along the rows; they are neighbours in the grid and share weights
  unsigned split;
  bool accumulate;
};

// Adds bias and old value and stores, for the registers first, first + step, ... of the tile's
// register-and-thread list (element e: register e / 256 of thread e % 256), as many as stand before
// `end`. Old values are fetched together: one at a time, each would wait for the store before it.
template <unsigned kCount>
__device__ void store(const Problem& p, unsigned row, unsigned output, const float (&sums)[kCount],
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
                           const Problem& p, unsigned row, unsigned output) {
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

template <unsigned kRows, unsigned kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks)
    matmul_kernel(const __grid_constant__ CUtensorMap weights,
                  const __grid_constant__ CUtensorMap x, const Problem p) {
  extern __shared__ std::byte shared[];
  const Pipeline<kRows, kBlocks> pipeline(shared);
  const unsigned tile = blockIdx.x / p.split, slice = blockIdx.x % p.split;
  const unsigned row = tile % p.row_tiles * kRows;
  const unsigned output = tile / p.row_tiles * kTileOutputs;
  // The shuffle tells the compiler that a warp takes one path.
  const unsigned warp = __shfl_sync(~0u, threadIdx.x / kWarp, 0), lane = threadIdx.x % kWarp;
  if (threadIdx.x == 0) pipeline.initialise();
  __syncthreads();
  let_next_begin();

  float c[Tiling<kRows, kBlocks>::kRegisters] = {};
  if (warp == kConsumers / kWarp) {
    if (lane == 0) {
      prefetch_map(&weights);
      prefetch_map(&x);
      const unsigned steps = (p.slice + kTileInner - 1) / kTileInner;
      produce(pipeline, &x, row, slice * p.slice, steps, [&](unsigned stage, unsigned k) {
        copy_box(pipeline.weights(stage), &weights, k, output, &pipeline.full[stage]);
      });
    }
    __syncwarp();
  } else {
    multiply<kRows, kBlocks>(c, pipeline, warp / 4, p.slice, lane == 0);
    wait_for_previous();
  }
  if (p.split > 1) {
    add_slices<kRows, kBlocks>(c, reinterpret_cast<float*>(pipeline.stages), p, row, output);
  } else if (warp < kConsumers / kWarp) {
    constexpr unsigned kBatch = 4;
#pragma unroll
    for (unsigned i = 0; i < Tiling<kRows, kBlocks>::kRegisters; i += kBatch) {
      const float sums[kBatch] = {c[i], c[i + 1], c[i + 2], c[i + 3]};
      store(p, row, output, sums, i * kConsumers + threadIdx.x, ~0u);
    }
  }
}

// ---- Launchers

template <unsigned kRows, unsigned kBlocks>
void launch_matmul(const MatmulArgs& args, cudaStream_t stream) {
  using T = Tiling<kRows, kBlocks>;
  static const bool allowed = allow_large_launches(matmul_kernel<kRows, kBlocks>, T::kSharedBytes);
  static_cast<void>(allowed);
  const auto narrow = [](std::size_t value) { return static_cast<unsigned>(value); };
  const Problem p{.out = args.out,
                  .bias = args.bias,
                  .rows = narrow(args.rows),
                  .outputs = narrow(args.w.outputs()),
                  .slice = narrow(args.w.inner() / args.split),
                  .row_tiles = narrow((args.rows + kRows - 1) / kRows),
                  .split = narrow(args.split),
                  .accumulate = args.accumulate};
  const std::size_t tiles = (args.w.outputs() + kTileOutputs - 1) / kTileOutputs;
  launch(stream,
         {.grid = dim3(narrow(tiles * p.row_tiles * args.split)),
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .cluster = p.split},
         matmul_kernel<kRows, kBlocks>, args.w.map(),
         tile_map(args.x, args.rows, args.w.inner(), kRows), p);
}

}  // namespace

// Changes the speed, never a bit. Rows: the widest tile that they fill. Blocks of a multiprocessor:
// clusters of 8 and more only fit the chip all at once with three.
void matmul(const MatmulArgs& args, cudaStream_t stream) {
  if (args.rows <= kSkinnyRows) {
    // Undivided products have blocks enough, and the copy engine reads faster than warps do.
    return args.split > 1 ? matmul_skinny(args, stream) : launch_matmul<8, 2>(args, stream);
  }
  if (args.rows <= 32) {
    return args.split >= 8 ? launch_matmul<32, 3>(args, stream)
                           : launch_matmul<32, 2>(args, stream);
  }
  if (args.rows <= 64) return launch_matmul<64, 2>(args, stream);
  return launch_matmul<128, 2>(args, stream);
}

}  // namespace engine::kernels::cuda
