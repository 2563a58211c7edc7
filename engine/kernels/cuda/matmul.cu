#include "kernels/cuda/device.cuh"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/matmul_skinny.h"
#include "kernels/cuda/wgmma.cuh"

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

constexpr unsigned kConsumers = 256;  // threads of the two warpgroups
constexpr unsigned kThreads = kConsumers + kWarp;
constexpr unsigned kWeightBytes = kTileOutputs * kTileInner * sizeof(bf16);

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

struct Problem {
  float* out;
  const bf16* bias;
  unsigned rows, outputs;
  unsigned slice;      // inner elements of a slice
  unsigned row_tiles;  // tiles along the rows; they are neighbours in the grid and share weights
  unsigned split;
  bool accumulate;
};

// Where accumulator register i of consumer thread `thread` lies in the tile.
__device__ unsigned tile_output(unsigned i, unsigned thread) {
  return thread / kWarp * 16 + thread % kWarp / 4 + (i & 2) * 4;
}
__device__ unsigned tile_row(unsigned i, unsigned thread) {
  return i / 4 * 8 + thread % 4 * 2 + (i & 1);
}

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
template <unsigned kRows, unsigned kBlocks>
__device__ void produce(const Pipeline<kRows, kBlocks>& pipeline, const CUtensorMap* weights,
                        const CUtensorMap* x, unsigned output, unsigned row, unsigned k,
                        unsigned steps) {
  using T = Tiling<kRows, kBlocks>;
  const unsigned ahead = steps < T::kStages ? steps : T::kStages;
  for (unsigned i = 0; i < ahead; ++i) {
    barrier_arrive_expecting(&pipeline.full[i], T::kStageBytes);
    copy_box(pipeline.weights(i), weights, k + i * kTileInner, output, &pipeline.full[i]);
  }
  wait_for_previous();
  for (unsigned i = 0; i < ahead; ++i) {
    copy_box(pipeline.rows(i), x, k + i * kTileInner, row, &pipeline.full[i]);
  }
  for (unsigned i = ahead; i < steps; ++i) {
    const unsigned stage = i % T::kStages;
    barrier_wait(&pipeline.empty[stage], (i / T::kStages + 1) & 1);
    barrier_arrive_expecting(&pipeline.full[stage], T::kStageBytes);
    copy_box(pipeline.weights(stage), weights, k + i * kTileInner, output, &pipeline.full[stage]);
    copy_box(pipeline.rows(stage), x, k + i * kTileInner, row, &pipeline.full[stage]);
  }
}

// The products of one stage, 16 inner elements each.
template <unsigned kRows, unsigned kBlocks>
__device__ void multiply_stage(float (&c)[Tiling<kRows, kBlocks>::kRegisters],
                               const Pipeline<kRows, kBlocks>& pipeline, unsigned stage,
                               unsigned warpgroup, unsigned products) {
  const std::uint64_t a =
      tile_descriptor(shared_address(pipeline.weights(stage)) + warpgroup * (kWeightBytes / 2));
  const std::uint64_t b = tile_descriptor(shared_address(pipeline.rows(stage)));
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
      produce(pipeline, &weights, &x, output, row, slice * p.slice, steps);
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
