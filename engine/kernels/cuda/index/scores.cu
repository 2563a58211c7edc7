#include <algorithm>

#include "kernels/cuda/device/instructions.cuh"
#include "kernels/cuda/index/index.h"
#include "numerics/index.h"

namespace engine::kernels::cuda {
namespace {

// ---- Kernels
//
// A block holds 128 keys, a warp 32 of them as fragments, and takes the queries of its rows past
// them, 32 heads at a time: the keys are mma's A, the heads its B. Which head stands in which
// column is free, and chosen so that a lane holds eight neighbouring heads of a key: the sum over
// the heads goes through the four lanes of a quad, eight heads each.

constexpr unsigned kWarps = 4;
constexpr unsigned kThreads = kWarps * kWarp;
constexpr unsigned kWarpKeys = 32;
constexpr unsigned kKeys = kWarps * kWarpKeys;
constexpr unsigned kHeads = 32;
constexpr unsigned kLaneHeads = kHeads / 4;
constexpr unsigned kSize = kMostIndexSize;

struct alignas(16) Heads {
  bf16 queries[kHeads][kSize + 8];  // padded: no bank conflicts in ldmatrix
  float weights[kHeads];
  unsigned count;
};
struct Shared {
  bf16 keys[kKeys][kSize + 8];
  Heads stages[2];
};

struct Problem {
  IndexProblem index;
  unsigned block_rows;
};

// Head of column n of a stage: lane t of a quad holds the columns 8 j + 2 t and + 1.
__device__ unsigned column_of(unsigned head) {
  return head % kLaneHeads / 2 * 8 + head / kLaneHeads * 2 + head % 2;
}

__device__ void load_keys(Shared& shared, const IndexProblem& p, unsigned first, unsigned end) {
  const unsigned pieces = p.size / 8;
  for (unsigned i = threadIdx.x; i < kKeys * pieces; i += kThreads) {
    const unsigned row = i / pieces, piece = i % pieces * 8, at = first + row;
    const bool valid = at < end;
    const bf16* from = valid ? p.keys + std::size_t{at} * p.size + piece : p.keys;
    copy_16(shared_address(&shared.keys[row][piece]), from, valid);
  }
}

// Heads [first, first + 32) of a row, as many as there are.
__device__ void load_heads(Heads& to, const IndexProblem& p, unsigned row, unsigned first) {
  const unsigned pieces = p.size / 8;
  const std::size_t heads = std::size_t{row} * p.heads;
  for (unsigned i = threadIdx.x; i < kHeads * pieces; i += kThreads) {
    const unsigned head = i / pieces, piece = i % pieces * 8;
    const bool valid = first + head < p.heads;
    const bf16* from = valid ? p.query + (heads + first + head) * p.size + piece : p.query;
    copy_16(shared_address(&to.queries[column_of(head)][piece]), from, valid);
  }
  if (threadIdx.x == 0) to.count = min(p.heads - first, kHeads);
  if (threadIdx.x < kHeads) {
    const unsigned head = first + threadIdx.x;
    to.weights[threadIdx.x] = head < p.heads ? p.weights[heads + head] : 0.0f;
  }
}

using KeyFragments = std::uint32_t[2][kSize / 16][4];

__device__ void load_fragments(KeyFragments& fragments, const Shared& shared, unsigned size) {
  const unsigned lane = threadIdx.x % kWarp, first = threadIdx.x / kWarp * kWarpKeys + lane % 16;
#pragma unroll
  for (unsigned m = 0; m < 2; ++m) {
#pragma unroll
    for (unsigned k = 0; k < kSize / 16; ++k) {
      if (16 * k >= size) break;
      load_matrix_x4(fragments[m][k],
                     shared_address(&shared.keys[first + 16 * m][16 * k + lane / 16 * 8]));
    }
  }
}

// c[m][4 j + 2 h + e]: key 16 m + g + 8 h of the warp, head 8 t + 2 j + e of the stage.
__device__ void multiply(float (&c)[2][kHeads / 2], const KeyFragments& keys, const Heads& heads,
                         unsigned size) {
  const unsigned lane = threadIdx.x % kWarp;
  const std::uint32_t queries =
      shared_address(&heads.queries[lane / 16 * 8 + lane % 8][lane / 8 % 2 * 8]);
#pragma unroll
  for (unsigned k = 0; k < kSize / 16; ++k) {
    if (16 * k >= size) break;
#pragma unroll
    for (unsigned j = 0; j < kHeads / 16; ++j) {
      std::uint32_t b[4];
      load_matrix_x4(b, queries + j * 16 * sizeof(heads.queries[0]) + k * 32);
#pragma unroll
      for (unsigned m = 0; m < 2; ++m) {
        multiply_16x8x16(&c[m][8 * j], keys[m][k], b[0], b[1]);
        multiply_16x8x16(&c[m][8 * j + 4], keys[m][k], b[2], b[3]);
      }
    }
  }
}

// Goes on with the sums of the lane's keys, 16 m + g + 8 h at [2 m + h], which all lanes of a quad
// hold: every lane adds its heads, and what the lane whose turn it was has becomes the sum.
__device__ void add_heads(float (&sums)[4], float (&c)[2][kHeads / 2], const Heads& heads) {
  const unsigned lane = threadIdx.x % 4, first = lane * kLaneHeads;
  float weights[kLaneHeads];
#pragma unroll
  for (unsigned i = 0; i < kLaneHeads; ++i)
    weights[i] = heads.weights[first + i];
#pragma unroll
  for (unsigned m = 0; m < 2; ++m) {
#pragma unroll
    for (unsigned i = 0; i < kHeads / 2; ++i) {
      // A head that there is not adds nothing, though its product with an infinite key is NaN.
      const bool is_head = first + i / 4 * 2 + i % 2 < heads.count;
      c[m][i] = is_head ? numerics::relu(c[m][i]) : 0.0f;
    }
  }
#pragma unroll
  for (unsigned turn = 0; turn < 4; ++turn) {
#pragma unroll
    for (unsigned key = 0; key < 4; ++key) {
      float sum = sums[key];
#pragma unroll
      for (unsigned i = 0; i < kLaneHeads; ++i)
        sum = numerics::fma(weights[i], c[key / 2][i / 2 * 4 + key % 2 * 2 + i % 2], sum);
      sums[key] = __shfl_sync(~0u, sum, turn, 4);
    }
  }
}

__global__ void __launch_bounds__(kThreads) index_scores_kernel(const Problem launched) {
  extern __shared__ __align__(16) std::byte memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  const IndexProblem& p = launched.index;
  const unsigned position = static_cast<unsigned>(advanced(p.position, p.advance));
  const unsigned first = blockIdx.x * kKeys, from = blockIdx.y * launched.block_rows;
  const unsigned to = min(from + launched.block_rows, p.rows);
  let_next_begin();
  wait_for_previous();
  // Positions that no row of the block sees, or rows that see no more than they take.
  if (first >= position + to || position + to <= p.most) return;

  const unsigned chunks = (p.heads + kHeads - 1) / kHeads, steps = (to - from) * chunks;
  const auto load = [&](unsigned i) {
    if (i < steps) load_heads(shared.stages[i % 2], p, from + i / chunks, i % chunks * kHeads);
    copy_commit();
  };
  load_keys(shared, p, first, position + to);
  load(0);
  KeyFragments keys;
  float sums[4];
  for (unsigned i = 0; i < steps; ++i) {
    copy_wait<0>();
    __syncthreads();
    if (i == 0) load_fragments(keys, shared, p.size);
    load(i + 1);
    if (i % chunks == 0) {
#pragma unroll
      for (float& sum : sums)
        sum = 0.0f;
    }
    float c[2][kHeads / 2] = {};
    multiply(c, keys, shared.stages[i % 2], p.size);
    add_heads(sums, c, shared.stages[i % 2]);
    if (i % chunks + 1 != chunks) continue;
    const unsigned row = from + i / chunks, lane = threadIdx.x % kWarp, t = lane % 4;
    const unsigned key = first + threadIdx.x / kWarp * kWarpKeys + 8 * t + lane / 4;
    const float sum = t < 2 ? (t == 0 ? sums[0] : sums[1]) : (t == 2 ? sums[2] : sums[3]);
    if (key <= position + row) p.scores[std::size_t{row} * p.slots + key] = sum;
  }
}

}  // namespace

// ---- Launchers

void index_scores(const IndexProblem& problem, cudaStream_t stream) {
  static const LargeLaunches allowed(index_scores_kernel, sizeof(Shared));
  constexpr unsigned kEnough = 528;  // blocks that keep the chip busy
  const unsigned tiles = (problem.keys_end + kKeys - 1) / kKeys;
  // Rows of a block share its keys; but few blocks would leave the chip idle.
  unsigned rows = 8;
  while (rows > 1 && tiles * ((problem.rows + rows - 1) / rows) < kEnough)
    rows /= 2;
  launch(stream,
         {.grid = dim3(tiles, (problem.rows + rows - 1) / rows),
          .threads = kThreads,
          .shared_bytes = sizeof(Shared)},
         index_scores_kernel, Problem{problem, rows});
}

}  // namespace engine::kernels::cuda
