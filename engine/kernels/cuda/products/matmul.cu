#include "kernels/cuda/products/matmul.h"
#include "kernels/cuda/products/output.cuh"
#include "kernels/cuda/products/skinny.h"
#include "kernels/cuda/products/wide.h"

namespace engine::kernels::cuda {
namespace {

// ---- Kernels
//
// One kernel for every row count but those of skinny.h and wide.h. A block computes 128 outputs of
// kRows rows for one slice of K, as the transposed product: the weights are wgmma's A (128 x 64
// tiles), the rows of x its B, so that one decode row costs a tile of 8 columns and not one of 64
// rows. A producer warp keeps the pipeline of tiles full; two warpgroups multiply. The `split`
// blocks of a tile form a cluster and add their slices through each other's shared memory,
// ascending.

struct Problem {
  Output output;
  unsigned slice;      // inner elements of a slice
  unsigned row_tiles;  // tiles along the rows; they are neighbours in the grid and share weights
};

template <unsigned kRows, unsigned kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks)
    matmul_kernel(const __grid_constant__ CUtensorMap weights,
                  const __grid_constant__ CUtensorMap x, const Problem p) {
  extern __shared__ std::byte shared[];
  const Pipeline<kRows, kBlocks> pipeline(shared);
  const unsigned tile = blockIdx.x / p.output.split, slice = blockIdx.x % p.output.split;
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
  store_tile<kRows, kBlocks>(c, pipeline, p.output, row, output, warp < kConsumers / kWarp);
}

// ---- Launchers

template <unsigned kRows, unsigned kBlocks>
void launch_matmul(const MatmulArgs& args, cudaStream_t stream) {
  using T = Tiling<kRows, kBlocks>;
  static const LargeLaunches allowed(matmul_kernel<kRows, kBlocks>, T::kSharedBytes);
  const Problem p{.output = {.out = args.out,
                             .bias = args.bias,
                             .rows = narrow(args.rows),
                             .outputs = narrow(args.w.outputs()),
                             .split = narrow(args.split),
                             .accumulate = args.accumulate},
                  .slice = narrow(args.w.inner() / args.split),
                  .row_tiles = narrow((args.rows + kRows - 1) / kRows)};
  const std::size_t tiles = (args.w.outputs() + kTileOutputs - 1) / kTileOutputs;
  launch(stream,
         {.grid = dim3(narrow(tiles * p.row_tiles * args.split)),
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .cluster = p.output.split},
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
  if (matmul_wide(args, stream)) return;
  return launch_matmul<128, 2>(args, stream);
}

}  // namespace engine::kernels::cuda
