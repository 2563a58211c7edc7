#include "kernels/cuda/attention/prefill.h"

#include "kernels/cuda/device/wgmma.cuh"

namespace engine::kernels::cuda {
namespace {

using numerics::kTileKeys;

// ---- Kernels
//
// A block takes 128 queries of one KV head, 64 a warpgroup, through the tiles of keys that any of
// them sees. The scores of the next tile are multiplied while those of this one go through softmax.
// Source of the schedule: Shah et al., "FlashAttention-3", 2024.

constexpr unsigned kThreads = 256;
constexpr unsigned kQueries = 128;
constexpr unsigned kStages = 3;
constexpr unsigned kBlockBytes = 64 * 64 * sizeof(bf16);  // 64 rows of 64 dimensions, swizzled

template <unsigned kHead>
struct Layout {
  static constexpr unsigned kBlocks = kHead / 64;
  static constexpr unsigned kTileBytes = kBlocks * kBlockBytes;  // 64 queries, keys or values
  static constexpr unsigned kStageBytes = 2 * kTileBytes;        // keys, then values
  static constexpr unsigned kSharedBytes = 1024 + 2 * kTileBytes + kStages * kStageBytes;
};

// 64 rows of kHead elements; rows without a source become zero and nothing is read.
template <unsigned kHead, typename Source>
__device__ void load_tile(std::uint32_t to, Source&& source) {
  constexpr unsigned kPieces = kHead / 8;  // of 16 bytes
#pragma unroll
  for (unsigned i = 0; i < 64 * kPieces / kThreads; ++i) {
    const unsigned at = i * kThreads + threadIdx.x, row = at / kPieces, piece = at % kPieces;
    const bf16* from = source(row);
    copy_16(to + piece / 8 * kBlockBytes + row * 128 + (piece ^ row) % 8 * 16, from + piece * 8,
            from != nullptr);
  }
}

template <unsigned kHead>
__device__ void load_queries(std::uint32_t to, const AttentionProblem& p, unsigned kv_head,
                             unsigned first) {
  for (unsigned half = 0; half < kQueries; half += 64) {
    load_tile<kHead>(to + half / 64 * Layout<kHead>::kTileBytes, [&](unsigned row) -> const bf16* {
      const unsigned query = first + half + row;
      return query < p.queries ? p.query + query_offset(p, kv_head, query) : nullptr;
    });
  }
}

template <unsigned kHead>
__device__ void load_keys(std::uint32_t to, const AttentionProblem& p, unsigned kv_head,
                          unsigned tile, KeyRange keys) {
  const std::size_t width = std::size_t{p.kv_heads} * kHead;
  const bool plain = is_plain(p, tile, keys);
  for (const bf16* rows : {p.k, p.v}) {
    if (plain) {
      const bf16* first = rows + tile * width + kv_head * kHead;
      load_tile<kHead>(to, [&](unsigned row) { return first + row * width; });
      to += Layout<kHead>::kTileBytes;
      continue;
    }
    load_tile<kHead>(to, [&](unsigned row) -> const bf16* {
      const unsigned at = tile + row;
      if (at < keys.begin || at >= keys.end) return nullptr;
      return rows + key_offset(p, kv_head, at);
    });
    to += Layout<kHead>::kTileBytes;
  }
}

// Begins S = Q K^T of a warpgroup.
template <unsigned kHead>
__device__ void begin_scores(float (&s)[32], std::uint32_t queries, std::uint32_t keys) {
#pragma unroll
  for (unsigned i = 0; i < 32; ++i)
    s[i] = 0.0f;
  pin_registers(s);
  wgmma_begin();
#pragma unroll
  for (unsigned k = 0; k < kHead / 16; ++k) {
    const unsigned offset = k / 4 * kBlockBytes;
    Wgmma<64>::multiply(s, tile_descriptor(queries + offset) + 2 * (k % 4),
                        tile_descriptor(keys + offset) + 2 * (k % 4));
  }
  wgmma_commit();
  pin_registers(s);
}

// Begins O += P V of a warpgroup.
template <unsigned kHead>
__device__ void begin_weighing(float (&o)[kHead / 2], const std::uint32_t (&p)[4][4],
                               std::uint32_t values) {
  const std::uint64_t v = transposed_descriptor(values, kBlockBytes);
  pin_registers(o);
  wgmma_begin();
#pragma unroll
  for (unsigned k = 0; k < kTileKeys / 16; ++k)
    WgmmaTransposed<kHead>::multiply(o, p[k], v + 128 * k);
  wgmma_commit();
  pin_registers(o);
}

__device__ KeyRange in_tile(KeyRange keys, unsigned tile) {
  return {keys.begin > tile ? keys.begin - tile : 0, keys.end > tile ? keys.end - tile : 0};
}

// What a lane knows of its two queries, g and g + 8 of its warp's 16.
struct Rows {
  unsigned query;
  KeyRange seen[2];
  KeyRange by_all;  // keys that every query of the warp sees
};

__device__ Rows my_rows(const AttentionProblem& p, unsigned first) {
  const unsigned warp_first = first + threadIdx.x / kWarp * 16;
  Rows rows{warp_first + threadIdx.x % kWarp / 4, {}, {}};
  for (unsigned h = 0; h < 2; ++h)
    if (rows.query + 8 * h < p.queries) rows.seen[h] = visible(p, rows.query + 8 * h);
  if (warp_first + 16 <= p.queries)
    rows.by_all = {visible(p, warp_first + 15).begin, visible(p, warp_first).end};
  return rows;
}

template <unsigned kHead>
__device__ void store(const AttentionProblem& p, unsigned kv_head, const Rows& rows,
                      const float (&o)[kHead / 2], const RowState (&state)[2]) {
#pragma unroll
  for (unsigned h = 0; h < 2; ++h) {
    const float sum = row_sum(state[h]);
    if (rows.query + 8 * h >= p.queries) continue;
    bf16* out = p.out + query_offset(p, kv_head, rows.query + 8 * h) + threadIdx.x % 4 * 2;
#pragma unroll
    for (unsigned j = 0; j < kHead / 8; ++j) {
      *reinterpret_cast<std::uint32_t*>(out + 8 * j) =
          quotients(o[4 * j + 2 * h], o[4 * j + 2 * h + 1], sum);
    }
  }
}

template <unsigned kHead>
__global__ void __launch_bounds__(kThreads, 1) attention_prefill_kernel(const AttentionProblem p) {
  using L = Layout<kHead>;
  extern __shared__ std::byte shared[];
  const std::uint32_t queries = (shared_address(shared) + 1023) / 1024 * 1024;
  const std::uint32_t stages = queries + 2 * L::kTileBytes;
  const unsigned warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0), kv_head = blockIdx.y;
  // The last queries see the most keys; they go first.
  const unsigned first = (gridDim.x - 1 - blockIdx.x) * kQueries;
  const unsigned last = first + kQueries < p.queries ? first + kQueries : p.queries;
  const KeyRange keys = visible(p, first, last);
  const unsigned begin = keys.begin / kTileKeys, end = (keys.end + kTileKeys - 1) / kTileKeys;
  const Rows rows = my_rows(p, first);
  const auto stage_of = [&](unsigned i) { return stages + (i - begin) % kStages * L::kStageBytes; };
  const auto load = [&](unsigned i) {
    if (i < end) load_keys<kHead>(stage_of(i), p, kv_head, i * kTileKeys, keys);
    copy_commit();
  };

  let_next_begin();
  wait_for_previous();
  load_queries<kHead>(queries, p, kv_head, first);
  load(begin);
  load(begin + 1);
  copy_wait<1>();
  async_proxy_fence();
  __syncthreads();
  const std::uint32_t mine = queries + warpgroup * L::kTileBytes;
  float o[kHead / 2] = {}, s[32], next[32];
  RowState state[2];
  begin_scores<kHead>(s, mine, stage_of(begin));
  wgmma_wait<0>();
  pin_registers(s);
  for (unsigned i = begin; i < end; ++i) {
    // Tile i + 1 is here, and no one reads tile i - 1, whose stage tile i + 2 takes.
    copy_wait<0>();
    async_proxy_fence();
    __syncthreads();
    load(i + 2);
    if (i + 1 < end) begin_scores<kHead>(next, mine, stage_of(i + 1));

    const unsigned tile = i * kTileKeys;
    const bool all = tile >= rows.by_all.begin && tile + kTileKeys <= rows.by_all.end;
    float alpha[2];
    if (all) {
#pragma unroll
      for (unsigned h = 0; h < 2; ++h)
        alpha[h] = softmax_step<true>(state[h], s, h, p.scores.scale, {});
    } else {
#pragma unroll
      for (unsigned h = 0; h < 2; ++h)
        alpha[h] = softmax_step<false>(state[h], s, h, p.scores.scale, in_tile(rows.seen[h], tile));
    }
    std::uint32_t weights[4][4];
#pragma unroll
    for (unsigned j = 0; j < 16; ++j)
      weights[j / 4][j % 4] = round_bf16x2(s[2 * j], s[2 * j + 1]);
#pragma unroll
    for (unsigned j = 0; j < kHead / 2; ++j)
      o[j] = o[j] * alpha[j / 2 % 2];
    begin_weighing<kHead>(o, weights, stage_of(i) + L::kTileBytes);
    wgmma_wait<0>();
    pin_registers(o);
    pin_registers(next);
#pragma unroll
    for (unsigned j = 0; j < 32; ++j)
      s[j] = next[j];
  }
  store<kHead>(p, kv_head, rows, o, state);
}

template <unsigned kHead>
void launch_prefill(const AttentionProblem& p, cudaStream_t stream) {
  constexpr unsigned kSharedBytes = Layout<kHead>::kSharedBytes;
  static const LargeLaunches allowed(attention_prefill_kernel<kHead>, kSharedBytes);
  launch(stream,
         {.grid = dim3((p.queries + kQueries - 1) / kQueries, p.kv_heads),
          .threads = kThreads,
          .shared_bytes = kSharedBytes},
         attention_prefill_kernel<kHead>, p);
}

}  // namespace

// ---- Launchers

void attention_prefill(const AttentionProblem& problem, cudaStream_t stream) {
  if (problem.head_size == 64) return launch_prefill<64>(problem, stream);
  launch_prefill<128>(problem, stream);
}

}  // namespace engine::kernels::cuda
