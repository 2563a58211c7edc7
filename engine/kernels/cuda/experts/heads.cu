#include "kernels/cuda/experts/heads.h"

#include "kernels/cuda/products/pipeline.cuh"

namespace engine::kernels::cuda {
namespace {

// ---- Kernels
//
// The kernel of matmul.cu for many matrices that all rows go to, one undivided chain each: a head's
// rows are columns of the matrix [R, Q x_stride] that all heads' make, so that one map serves all.

struct Problem {
  bf16* out;
  unsigned out_stride, x_stride;
  unsigned rows, heads, outputs, inner;
  unsigned row_tiles;  // neighbours in the grid: they share weights
};

template <unsigned kCount>
__device__ void store(const Problem& p, unsigned head, unsigned row, unsigned output,
                      const float (&c)[kCount]) {
#pragma unroll
  for (unsigned i = 0; i < kCount; ++i) {
    const unsigned r = row + tile_row(i, threadIdx.x), n = output + tile_output(i, threadIdx.x);
    if (r >= p.rows || n >= p.outputs) continue;
    p.out[(std::size_t{r} * p.heads + head) * p.out_stride + n] = round_bf16(c[i]);
  }
}

template <unsigned kRows, unsigned kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks)
    heads_kernel(const __grid_constant__ CUtensorMap weights, const __grid_constant__ CUtensorMap x,
                 const Problem p) {
  extern __shared__ std::byte shared[];
  const Pipeline<kRows, kBlocks> pipeline(shared);
  const unsigned row = blockIdx.x % p.row_tiles * kRows;
  const unsigned output = blockIdx.x / p.row_tiles * kTileOutputs, head = blockIdx.y;
  const unsigned warp = __shfl_sync(~0u, threadIdx.x / kWarp, 0), lane = threadIdx.x % kWarp;
  if (threadIdx.x == 0) pipeline.initialise();
  __syncthreads();
  let_next_begin();

  if (warp == kConsumers / kWarp) {
    if (lane == 0) {
      const unsigned steps = (p.inner + kTileInner - 1) / kTileInner, first = head * p.x_stride;
      produce(pipeline, &x, row, first, steps, [&](unsigned stage, unsigned k) {
        copy_box(pipeline.weights(stage), &weights, k - first, head * p.outputs + output,
                 &pipeline.full[stage]);
      });
    }
    return;
  }
  float c[Tiling<kRows, kBlocks>::kRegisters] = {};
  multiply<kRows, kBlocks>(c, pipeline, warp / 4, p.inner, lane == 0);
  wait_for_previous();
  store(p, head, row, output, c);
}

// ---- Launchers

template <unsigned kRows, unsigned kBlocks>
void launch_heads(const HeadsArgs& args, cudaStream_t stream) {
  using T = Tiling<kRows, kBlocks>;
  static const LargeLaunches allowed(heads_kernel<kRows, kBlocks>, T::kSharedBytes);
  const std::size_t heads = args.w.experts(), outputs = args.w.outputs();
  const Problem p{.out = args.out,
                  .out_stride = narrow(args.out_stride),
                  .x_stride = narrow(args.x_stride),
                  .rows = narrow(args.rows),
                  .heads = narrow(heads),
                  .outputs = narrow(outputs),
                  .inner = narrow(args.w.inner()),
                  .row_tiles = narrow((args.rows + kRows - 1) / kRows)};
  const unsigned tiles = narrow((outputs + kTileOutputs - 1) / kTileOutputs);
  launch(stream,
         {.grid = dim3(tiles * p.row_tiles, p.heads),
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes},
         heads_kernel<kRows, kBlocks>, args.w.stacked().map(),
         tile_map(args.x, args.rows, heads * args.x_stride, kRows), p);
}

}  // namespace

// Changes the speed, never a bit.
void matmul_heads(const HeadsArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  if (args.rows <= 8) return launch_heads<8, 2>(args, stream);
  if (args.rows <= 32) return launch_heads<32, 2>(args, stream);
  if (args.rows <= 64) return launch_heads<64, 2>(args, stream);
  launch_heads<128, 2>(args, stream);
}

}  // namespace engine::kernels::cuda
