#include "kernels/cuda/products/matmul.h"
#include "kernels/cuda/products/pipeline.cuh"
#include "kernels/cuda/products/wide.h"
#include "numerics/exp.h"

namespace engine::kernels::cuda {
namespace {

// ---- Kernels
//
// The product of matmul.cu with another end: of a tile's 128 outputs, the first warpgroup computes
// 64 gates and the second the 64 ups that belong to them. They exchange halves through shared
// memory, so that 2 I float32 of a row are neither written nor read again.

constexpr unsigned kRows = 128;
constexpr unsigned kBlocks = 2;
constexpr unsigned kHalf = kTileOutputs / 2;  // gates of a tile
constexpr unsigned kGroup = kConsumers / 2;   // threads of a warpgroup
constexpr unsigned kRegisters = Tiling<kRows, kBlocks>::kRegisters;
constexpr unsigned kPadded = kHalf + 8;  // no bank conflicts

struct Problem {
  bf16* out;
  unsigned rows, intermediate, inner;
  unsigned row_tiles;
};

struct Exchange {
  float parts[2][kRegisters / 2][kGroup];  // of each warpgroup: what the other one needs
  bf16 results[kRows][kPadded];
};
static_assert(sizeof(Exchange) <=
              Tiling<kRows, kBlocks>::kStages * Tiling<kRows, kBlocks>::kStageBytes);

__device__ void consumers_sync() {
  asm volatile("bar.sync 1, %0;" ::"n"(kConsumers) : "memory");
}

// The first warpgroup activates the first half of the registers, the second the other half.
__device__ void activate(Exchange& exchange, const float (&c)[kRegisters], unsigned warpgroup) {
  const unsigned thread = threadIdx.x % kGroup;
#pragma unroll
  for (unsigned i = 0; i < kRegisters / 2; ++i)
    exchange.parts[warpgroup][i][thread] = warpgroup == 0 ? c[kRegisters / 2 + i] : c[i];
  consumers_sync();
#pragma unroll
  for (unsigned i = 0; i < kRegisters / 2; ++i) {
    const float other = exchange.parts[1 - warpgroup][i][thread];
    const float gate = warpgroup == 0 ? c[i] : other;
    const float up = warpgroup == 0 ? other : c[kRegisters / 2 + i];
    const unsigned at = warpgroup * (kRegisters / 2) + i;
    exchange.results[tile_row(at, thread)][tile_output(at, thread)] =
        round_bf16(numerics::silu(gate) * up);
  }
  consumers_sync();
}

__device__ void store(const Problem& p, const Exchange& exchange, unsigned row, unsigned output) {
  constexpr unsigned kPieces = kHalf / 8;  // of 16 bytes
#pragma unroll
  for (unsigned i = threadIdx.x; i < kRows * kPieces; i += kConsumers) {
    const unsigned r = i / kPieces, n = i % kPieces * 8;
    if (row + r >= p.rows) continue;
    *reinterpret_cast<uint4*>(p.out + std::size_t{row + r} * p.intermediate + output + n) =
        *reinterpret_cast<const uint4*>(&exchange.results[r][n]);
  }
}

__global__ void __launch_bounds__(kThreads, kBlocks)
    gated_kernel(const __grid_constant__ CUtensorMap weights, const __grid_constant__ CUtensorMap x,
                 const Problem p) {
  extern __shared__ std::byte shared[];
  const Pipeline<kRows, kBlocks> pipeline(shared);
  const unsigned row = blockIdx.x % p.row_tiles * kRows;
  const unsigned output = blockIdx.x / p.row_tiles * kHalf;
  const unsigned warp = __shfl_sync(~0u, threadIdx.x / kWarp, 0), lane = threadIdx.x % kWarp;
  if (threadIdx.x == 0) pipeline.initialise();
  __syncthreads();
  let_next_begin();

  if (warp == kConsumers / kWarp) {
    if (lane > 0) return;
    prefetch_map(&weights);
    prefetch_map(&x);
    const unsigned steps = (p.inner + kTileInner - 1) / kTileInner;
    produce(pipeline, &x, row, 0, steps, [&](unsigned stage, unsigned k) {
      std::byte* tile = pipeline.weights(stage);
      copy_box(tile, &weights, k, output, &pipeline.full[stage]);
      copy_box(tile + kWeightBytes / 2, &weights, k, p.intermediate + output,
               &pipeline.full[stage]);
    });
    return;
  }
  float c[kRegisters] = {};
  multiply<kRows, kBlocks>(c, pipeline, warp / 4, p.inner, lane == 0);
  wait_for_previous();
  consumers_sync();  // both are done with the tiles
  auto& exchange = *reinterpret_cast<Exchange*>(pipeline.stages);
  if (warp / 4 == 0) {
    activate(exchange, c, 0);
  } else {
    activate(exchange, c, 1);
  }
  store(p, exchange, row, output);
}

}  // namespace

// ---- Launchers

bool matmul_gated(const GatedArgs& args, cudaStream_t stream) {
  if (matmul_wide_gated(args, stream)) return true;
  using T = Tiling<kRows, kBlocks>;
  const std::size_t intermediate = args.gate_up.outputs() / 2;
  if (args.rows <= kRows / 2 || intermediate % kHalf != 0) return false;
  static const LargeLaunches allowed(gated_kernel, T::kSharedBytes);
  const Problem p{.out = args.out,
                  .rows = narrow(args.rows),
                  .intermediate = narrow(intermediate),
                  .inner = narrow(args.gate_up.inner()),
                  .row_tiles = narrow((args.rows + kRows - 1) / kRows)};
  launch(stream,
         {.grid = dim3(narrow(intermediate / kHalf) * p.row_tiles),
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes},
         gated_kernel, args.gate_up.half_map(),
         tile_map(args.x, args.rows, args.gate_up.inner(), kRows), p);
  return true;
}

}  // namespace engine::kernels::cuda
