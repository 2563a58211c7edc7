#include "kernels/cuda/products/skinny.h"

#include <algorithm>

#include "kernels/cuda/device/instructions.cuh"

namespace engine::kernels::cuda {
namespace {

// ---- Kernels
//
// One block a multiprocessor; a warp computes 16 outputs of all rows for one slice of K, as the
// transposed product: the weights are mma's A (16 x 16), the rows of x its B (8 columns). Each warp
// keeps its own ring of stages in shared memory full and never waits for another one, except that
// the warps of a unit of outputs, one a slice, lie in one block and add their slices there. Units
// are small so that every multiprocessor gets the same share of the weights, within a few percent:
// what one holds longer than the others, the memory stands still for.

constexpr unsigned kUnit = 16;   // outputs of a warp
constexpr unsigned kInner = 64;  // inner elements of a stage
constexpr unsigned kMostWarps = 16;
constexpr unsigned kStages = 4;
constexpr unsigned kPadded = kInner + 8;  // no bank conflicts in ldmatrix

struct Stage {
  bf16 weights[kUnit][kPadded];
  bf16 x[kSkinnyRows][kPadded];
};
using Slice = float[4][kWarp];  // a warp's accumulators

struct Problem {
  float* out;
  const bf16* x;
  const bf16* weights;
  const bf16* bias;
  unsigned rows, outputs, inner;
  unsigned slice;  // inner elements of a slice
  unsigned split;
  unsigned rounds;  // of units, until all are done
  bool accumulate;
};

// What a warp computes in one round.
struct Task {
  unsigned output;  // first of 16; the warp has nothing to do where it is not below p.outputs
  unsigned begin;   // of its slice
};

__device__ Task task_of(const Problem& p, unsigned round) {
  const unsigned warp = threadIdx.x / kWarp, units = blockDim.x / kWarp / p.split;
  const unsigned unit = (round * units + warp / p.split) * gridDim.x + blockIdx.x;
  return {unit * kUnit, warp % p.split * p.slice};
}

// Inner elements [step * 64, + 64) of the slice; what lies outside the matrix becomes zero.
__device__ void load_weights(Stage& stage, const Problem& p, const Task& task, unsigned step) {
  const unsigned lane = threadIdx.x % kWarp, column = lane % 8 * 8;
  const unsigned k = step * kInner + column;
#pragma unroll
  for (unsigned i = 0; i < kUnit / 4; ++i) {
    const unsigned row = 4 * i + lane / 8;
    const bool valid = task.output + row < p.outputs && k < p.slice;
    const bf16* from = p.weights + std::size_t{task.output + row} * p.inner + task.begin + k;
    copy_16(shared_address(&stage.weights[row][column]), valid ? from : p.weights, valid);
  }
}

__device__ void load_x(Stage& stage, const Problem& p, const Task& task, unsigned step) {
  const unsigned lane = threadIdx.x % kWarp, column = lane % 8 * 8;
  const unsigned k = step * kInner + column;
#pragma unroll
  for (unsigned i = 0; i < kSkinnyRows / 4; ++i) {
    const unsigned row = 4 * i + lane / 8;
    const bool valid = row < p.rows && task.output < p.outputs && k < p.slice;
    const bf16* from = p.x + std::size_t{row} * p.inner + task.begin + k;
    copy_16_near(shared_address(&stage.x[row][column]), valid ? from : p.x, valid);
  }
}

__device__ void multiply_stage(float (&c)[4], const Stage& stage) {
  const unsigned lane = threadIdx.x % kWarp;
  const std::uint32_t weights = shared_address(&stage.weights[lane % 16][lane / 16 * 8]);
  const std::uint32_t x = shared_address(&stage.x[lane % 8][lane / 8 * 8]);
#pragma unroll
  for (unsigned k = 0; k < kInner / 32; ++k) {
    std::uint32_t a[2][4], b[4];
    load_matrix_x4(b, x + k * 64);
    load_matrix_x4(a[0], weights + k * 64);
    load_matrix_x4(a[1], weights + k * 64 + 32);
    multiply_16x8x16(c, a[0], b[0], b[1]);
    multiply_16x8x16(c, a[1], b[2], b[3]);
  }
}

// c[2 h + e] of lane 4 g + t is output g + 8 h of row 2 t + e. Adds bias, then the old value.
__device__ void store(const Problem& p, unsigned output, const float (&c)[4]) {
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned n = output + lane / 4 + i / 2 * 8, row = lane % 4 * 2 + i % 2;
    if (n >= p.outputs || row >= p.rows) continue;
    float* out = p.out + std::size_t{row} * p.outputs + n;
    const float sum = p.bias != nullptr ? c[i] + numerics::to_float(p.bias[n]) : c[i];
    *out = p.accumulate ? sum + *out : sum;
  }
}

// The first warp of a unit adds the slices of all, ascending, and stores the sums.
__device__ void add_slices(const Problem& p, Slice* slices, unsigned output, float (&c)[4]) {
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    slices[warp][i][lane] = c[i];
  __syncthreads();
  if (warp % p.split == 0) {
    for (unsigned s = 1; s < p.split; ++s) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i)
        c[i] = c[i] + slices[warp + s][i][lane];
    }
    store(p, output, c);
  }
  __syncthreads();  // before the next round's slices
}

__global__ void __launch_bounds__(kMostWarps* kWarp, 1) skinny_kernel(const Problem p) {
  extern __shared__ __align__(16) std::byte shared[];
  const unsigned warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  Stage* ring = reinterpret_cast<Stage*>(shared) + warp * kStages;
  auto* slices = reinterpret_cast<Slice*>(reinterpret_cast<Stage*>(shared) + warps * kStages);
  const unsigned steps = (p.slice + kInner - 1) / kInner, end = steps * p.rounds;
  const auto load = [&](unsigned i, auto&& loader) {
    if (i < end) loader(ring[i % kStages], p, task_of(p, i / steps), i % steps);
  };

  let_next_begin();
  // The weights do not depend on the kernel before.
  for (unsigned i = 0; i < kStages - 1; ++i)
    load(i, load_weights);
  wait_for_previous();
  for (unsigned i = 0; i < kStages - 1; ++i) {
    load(i, load_x);
    copy_commit();
  }
  float c[4] = {};
  for (unsigned i = 0; i < end; ++i) {
    copy_wait<kStages - 2>();
    __syncwarp();
    load(i + kStages - 1, load_weights);
    load(i + kStages - 1, load_x);
    copy_commit();
    multiply_stage(c, ring[i % kStages]);
    if ((i + 1) % steps != 0) continue;
    add_slices(p, slices, task_of(p, i / steps).output, c);
    for (float& x : c)
      x = 0.0f;
  }
}

}  // namespace

// ---- Launchers

void matmul_skinny(const MatmulArgs& args, cudaStream_t stream) {
  constexpr std::size_t kWarpBytes = kStages * sizeof(Stage) + sizeof(Slice);
  static const LargeLaunches allowed(skinny_kernel, kMostWarps * kWarpBytes);
  const unsigned all = multiprocessors();
  const auto rounded_up = [](unsigned a, unsigned b) { return (a + b - 1) / b; };
  const unsigned split = narrow(args.split);
  const unsigned units = rounded_up(narrow(args.w.outputs()), kUnit);
  const unsigned rounds = rounded_up(units, all * (kMostWarps / split));
  const unsigned block_units = rounded_up(units, all * rounds);
  const Problem p{.out = args.out,
                  .x = args.x,
                  .weights = args.w.data(),
                  .bias = args.bias,
                  .rows = narrow(args.rows),
                  .outputs = narrow(args.w.outputs()),
                  .inner = narrow(args.w.inner()),
                  .slice = narrow(args.w.inner()) / split,
                  .split = split,
                  .rounds = rounds,
                  .accumulate = args.accumulate};
  launch(stream,
         {.grid = dim3(std::min(all, rounded_up(units, block_units))),
          .threads = block_units * split * kWarp,
          .shared_bytes = block_units * split * kWarpBytes},
         skinny_kernel, p);
}

}  // namespace engine::kernels::cuda
