#include "kernels/cuda/attention/latent.h"

#include <string>

#include "kernels/cuda/device/wgmma.cuh"

namespace engine::kernels::cuda {
namespace {

using numerics::kSegmentKeys;
using numerics::kTileKeys;

// ---- Kernels
//
// A block takes up to 64 heads of one row, which share every key, through the row's tiles; in
// decode, through those of one segment. A tile of 64 keys is the scores' B as it lies in shared
// memory, and its first C columns, transposed, the values. Both warpgroups compute all scores, and
// each carries half of O: an exchange of the scores would cost more than computing them twice saves
// to a matrix unit that is waiting for shared memory.

constexpr unsigned kThreads = 256;
constexpr unsigned kQueries = 64;
constexpr unsigned kStages = 2;
constexpr unsigned kBlockBytes = 64 * 64 * sizeof(bf16);  // 64 rows of 64 dimensions, swizzled
constexpr unsigned kTileBytes = kMostKey / 64 * kBlockBytes;
constexpr unsigned kSharedBytes = 1024 + (1 + kStages) * kTileBytes;
constexpr unsigned kHalf = kMostLatent / 2;  // dimensions of O of a warpgroup
constexpr unsigned kPart = 128;              // of those, what one product makes
constexpr unsigned kRowThreads = kThreads / 64;

using Output = float[kHalf / kPart][kPart / 2];

// Row `row` of a tile, by its four threads; without a source it becomes zero.
__device__ void load_row(std::uint32_t to, unsigned row, const bf16* from, unsigned size) {
  to += row * 128;
#pragma unroll 6
  for (unsigned piece = threadIdx.x % kRowThreads; piece * 8 < size; piece += kRowThreads) {
    copy_16(to + piece / 8 * kBlockBytes + (piece ^ row) % 8 * 16, from + piece * 8,
            from != nullptr);
  }
}

// The dimensions of `tiles` tiles' row from `size` on, which nothing is loaded to: with zeros
// there, narrow keys give the same bits in as many steps as wide ones.
__device__ void clear_rest(std::uint32_t to, unsigned tiles, unsigned row, unsigned size) {
  for (unsigned i = threadIdx.x % kRowThreads; i < tiles * kMostKey / 8; i += kRowThreads) {
    const unsigned piece = i % (kMostKey / 8);
    if (piece * 8 < size) continue;
    const std::uint32_t at = to + i / (kMostKey / 8) * kTileBytes + piece / 8 * kBlockBytes +
                             row * 128 + (piece ^ row) % 8 * 16;
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(0) : "memory");
  }
}

// The key at place `at` of what the row sees, or null.
__device__ const bf16* key_row(const AttentionProblem& p, unsigned row, unsigned at,
                               KeyRange keys) {
  if (at < keys.begin || at >= keys.end) return nullptr;
  const std::size_t set = std::size_t{row} * p.most;
  const unsigned position = p.chosen == nullptr ? at : static_cast<unsigned>(p.chosen[set + at]);
  return p.k + key_offset(p, 0, position);
}

// S = Q K^T of a warpgroup.
__device__ void score(float (&s)[32], std::uint32_t queries, std::uint32_t keys) {
#pragma unroll
  for (float& x : s)
    x = 0.0f;
  pin_registers(s);
  wgmma_begin();
#pragma unroll
  for (unsigned k = 0; k < kMostKey / 16; ++k) {
    const unsigned offset = k / 4 * kBlockBytes + k % 4 * 32;
    Wgmma<64>::multiply(s, tile_descriptor(queries + offset), tile_descriptor(keys + offset));
  }
  wgmma_commit();
  wgmma_wait<0>();
  pin_registers(s);
}

// O = O alpha + P V of a warpgroup's dimensions.
__device__ void weigh(Output& o, const float (&p)[32], const float (&alpha)[2],
                      std::uint32_t values) {
  std::uint32_t weights[kTileKeys / 16][4];
#pragma unroll
  for (unsigned j = 0; j < 16; ++j)
    weights[j / 4][j % 4] = round_bf16x2(p[2 * j], p[2 * j + 1]);
#pragma unroll
  for (auto& part : o) {
#pragma unroll
    for (unsigned j = 0; j < kPart / 2; ++j)
      part[j] = part[j] * alpha[j / 2 % 2];
    pin_registers(part);
  }
  wgmma_begin();
#pragma unroll
  for (unsigned k = 0; k < kTileKeys / 16; ++k) {
#pragma unroll
    for (unsigned i = 0; i < kHalf / kPart; ++i) {
      const std::uint32_t block = values + i * (kPart / 64) * kBlockBytes;
      WgmmaTransposed<kPart>::multiply(o[i], weights[k],
                                       transposed_descriptor(block, kBlockBytes) + 128 * k);
    }
  }
  wgmma_commit();
  wgmma_wait<0>();
#pragma unroll
  for (auto& part : o)
    pin_registers(part);
}

// Half h of the lane's O: to `out`, or to the segment's part of `partial`. `index` counts heads of
// the launch, `first` is the warpgroup's first dimension.
__device__ void store(const AttentionProblem& p, std::size_t index, unsigned first, const Output& o,
                      unsigned h, float maximum, float sum) {
  const unsigned t = threadIdx.x % 4, C = p.value_size;
  float* partial = nullptr;
  if (p.partial != nullptr) {
    partial = p.partial + (blockIdx.y * std::size_t{p.queries} + index) * (2 + C);
    if (first == 0 && t == 0) {
      partial[0] = maximum;
      partial[1] = sum;
    }
  }
#pragma unroll
  for (unsigned i = 0; i < kHalf / kPart; ++i) {
#pragma unroll
    for (unsigned j = 0; j < kPart / 8; ++j) {
      const unsigned d = first + i * kPart + 8 * j + 2 * t;
      const float low = o[i][4 * j + 2 * h], high = o[i][4 * j + 2 * h + 1];
      if (d >= C) return;
      if (partial != nullptr) {
        *reinterpret_cast<float2*>(partial + 2 + d) = {low, high};
      } else {
        *reinterpret_cast<std::uint32_t*>(p.out + index * C + d) = quotients(low, high, sum);
      }
    }
  }
}

// blockIdx.x is the row and 64 of its heads, blockIdx.y the segment.
__global__ void __launch_bounds__(kThreads, 1)
    attention_latent_kernel(const AttentionProblem launched) {
  const AttentionProblem p = advanced(launched);
  extern __shared__ std::byte shared[];
  const std::uint32_t queries = (shared_address(shared) + 1023) / 1024 * 1024;
  const std::uint32_t stages = queries + kTileBytes;
  const unsigned warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);
  const unsigned blocks = (p.query_heads + kQueries - 1) / kQueries;
  // The last rows see the most keys; they go first.
  const unsigned index = gridDim.x - 1 - blockIdx.x;
  const unsigned row = index / blocks, head = index % blocks * kQueries;
  KeyRange keys = visible_latents(p, row);
  if (p.partial != nullptr) {
    const unsigned segment = (p.first_segment + blockIdx.y) * kSegmentKeys;
    keys = {max(keys.begin, segment), min(keys.end, segment + static_cast<unsigned>(kSegmentKeys))};
  }
  let_next_begin();
  wait_for_previous();
  if (keys.begin >= keys.end) return;

  const unsigned mine = threadIdx.x / kRowThreads;  // the row of a tile that this thread loads
  const std::size_t first_head = std::size_t{row} * p.query_heads + head;
  const bf16* query = p.query + (first_head + mine) * p.head_size;
  if (p.head_size < kMostKey) clear_rest(queries, 1 + kStages, mine, p.head_size);
  load_row(queries, mine, head + mine < p.query_heads ? query : nullptr, p.head_size);
  const unsigned begin = keys.begin / kTileKeys, end = (keys.end + kTileKeys - 1) / kTileKeys;
  const auto stage_of = [&](unsigned i) { return stages + i % kStages * kTileBytes; };
  const bf16* key = key_row(p, row, begin * kTileKeys + mine, keys);
  const auto load = [&](unsigned i) {
    if (i < end) load_row(stage_of(i), mine, key, p.head_size);
    copy_commit();
    key = key_row(p, row, (i + 1) * kTileKeys + mine, keys);
  };
  load(begin);

  Output o = {};
  RowState state[2];
  const unsigned dimension = warpgroup * kHalf;
  for (unsigned i = begin; i < end; ++i) {
    // Tile i is here, and no one reads tile i - 1, whose stage tile i + 1 takes.
    copy_wait<0>();
    async_proxy_fence();
    __syncthreads();
    load(i + 1);
    float s[32], alpha[2];
    score(s, queries, stage_of(i));
    if (p.scores.inner != 0.0f) {
#pragma unroll
      for (float& x : s)
        x = numerics::tanh(x * p.scores.inner);
    }
    const unsigned tile = i * kTileKeys;
    const KeyRange columns{keys.begin > tile ? keys.begin - tile : 0, keys.end - tile};
    const bool all = columns.begin == 0 && columns.end >= kTileKeys;
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      alpha[h] = all ? softmax_step<true>(state[h], s, h, p.scores.scale, {})
                     : softmax_step<false>(state[h], s, h, p.scores.scale, columns);
    }
    weigh(o, s, alpha, stage_of(i) + dimension / 64 * kBlockBytes);
  }
  const unsigned own = head + threadIdx.x % 128 / kWarp * 16 + threadIdx.x % kWarp / 4;
#pragma unroll
  for (unsigned h = 0; h < 2; ++h) {
    const float sum = row_sum(state[h]);
    if (own + 8 * h >= p.query_heads) continue;
    store(p, std::size_t{row} * p.query_heads + own + 8 * h, dimension, o, h, state[h].maximum,
          sum);
  }
}

}  // namespace

// ---- Launchers

void attention_latent(const AttentionProblem& problem, cudaStream_t stream) {
  if (problem.head_size > kMostKey || problem.value_size > kMostLatent) {
    throw BackendError("the CUDA backend has no attention for keys of " +
                       std::to_string(problem.head_size) + " elements over latents of " +
                       std::to_string(problem.value_size) + "; " + std::to_string(kMostKey) +
                       " and " + std::to_string(kMostLatent) + " are the largest");
  }
  static const LargeLaunches allowed(attention_latent_kernel, kSharedBytes);
  const unsigned rows = problem.queries / problem.query_heads;
  const unsigned blocks = (problem.query_heads + kQueries - 1) / kQueries;
  launch(stream,
         {.grid = dim3(rows * blocks, problem.partial != nullptr ? problem.segments : 1),
          .threads = kThreads,
          .shared_bytes = kSharedBytes},
         attention_latent_kernel, problem);
}

}  // namespace engine::kernels::cuda
