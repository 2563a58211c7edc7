#include "kernels/cuda/attention/decode.h"

namespace engine::kernels::cuda {
namespace {

using numerics::kSegmentKeys;
using numerics::kTileKeys;

// ---- Kernels
//
// A block takes 16 queries of one KV head through one segment. Nothing in the order of
// numerics/attention.h binds the work to one warp but the chains of O: the scores of 32 keys are
// one warp's, the maximum before each tile follows from all warps' maxima, and then each warp
// carries 16 dimensions of O through the segment's four tiles.
//
// Within one fused16 the order of the 16 products is free. Keys and queries use that: a lane takes
// four neighbouring dimensions of 16, and so loads its fragments from memory, 8 bytes a load.

constexpr unsigned kWarps = 8;
constexpr unsigned kThreads = kWarps * kWarp;
constexpr unsigned kQueries = 16;
constexpr unsigned kTiles = kSegmentKeys / kTileKeys;
constexpr unsigned kWarpKeys = kSegmentKeys / kWarps;
constexpr unsigned kWarpsOfTile = kTileKeys / kWarpKeys;
static_assert(kWarpsOfTile == 2);

template <unsigned kHead>
struct Shared {
  // Rows are padded by 16 bytes: no bank conflicts in ldmatrix.
  bf16 values[kSegmentKeys][kHead + 8];
  bf16 weights[kQueries][kSegmentKeys + 8];  // p
  float highest[kWarps][kQueries];           // score of each warp's keys, unscaled
  float half_sums[kTiles][kQueries][4];      // of a tile's first 32 keys, for each lane of a quad
  float sums[kTiles][kQueries][4];           // t_q
};

struct Fragment {  // of 16 x 16 queries or 16 x 8 keys: elements 4 t .. 4 t + 3 of two rows or one
  std::uint32_t low, high;
};

__device__ Fragment load_fragment(const bf16* row, unsigned k) {
  if (row == nullptr) return {0, 0};
  const uint2 pair = *reinterpret_cast<const uint2*>(row + 16 * k + threadIdx.x % 4 * 4);
  return {pair.x, pair.y};
}

// What the block reads of position `at`, or null.
__device__ const bf16* row_of(const bf16* rows, const AttentionProblem& p, unsigned kv_head,
                              unsigned at, KeyRange keys) {
  return at >= keys.begin && at < keys.end ? rows + key_offset(p, kv_head, at) : nullptr;
}

// Asks for the block's keys and values before the kernel before this one has ended; only the second
// level cache takes them, so a row that is still being written is not missed.
__device__ void prefetch_rows(const AttentionProblem& p, unsigned kv_head, unsigned segment,
                              KeyRange keys) {
  const unsigned at = segment + threadIdx.x;
  static_assert(kThreads == kSegmentKeys);
  for (const bf16* rows : {p.k, p.v}) {
    const bf16* row = row_of(rows, p, kv_head, at, keys);
    if (row == nullptr) continue;
    for (unsigned d = 0; d < p.head_size; d += 64)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(row + d));
  }
}

template <unsigned kHead>
__device__ void load_values(Shared<kHead>& shared, const AttentionProblem& p, unsigned kv_head,
                            unsigned segment, KeyRange keys) {
  constexpr unsigned kPieces = kHead / 8;
#pragma unroll 8
  for (unsigned i = threadIdx.x; i < kSegmentKeys * kPieces; i += kThreads) {
    const unsigned row = i / kPieces, piece = i % kPieces * 8;
    const bf16* from = row_of(p.v, p, kv_head, segment + row, keys);
    copy_16(shared_address(&shared.values[row][piece]), from + piece, from != nullptr);
  }
  copy_commit();
}

template <unsigned kHead>
using KeyFragments = Fragment[kWarpKeys / 8][kHead / 16];

template <unsigned kHead>
__device__ void load_keys(KeyFragments<kHead>& keys, const AttentionProblem& p, unsigned kv_head,
                          unsigned segment, KeyRange range) {
  const unsigned first = segment + threadIdx.x / kWarp * kWarpKeys + threadIdx.x % kWarp / 4;
#pragma unroll
  for (unsigned j = 0; j < kWarpKeys / 8; ++j) {
    const bf16* key = row_of(p.k, p, kv_head, first + 8 * j, range);
#pragma unroll
    for (unsigned k = 0; k < kHead / 16; ++k)
      keys[j][k] = load_fragment(key, k);
  }
}

// c[4 j + 2 h + e]: score of query g + 8 h and the warp's key 8 j + 2 t + e.
template <unsigned kHead>
__device__ void score(float (&c)[kWarpKeys / 2], const KeyFragments<kHead>& keys,
                      const AttentionProblem& p, unsigned kv_head, unsigned first) {
  const unsigned g = threadIdx.x % kWarp / 4;
  const bf16* query[2];
#pragma unroll
  for (unsigned h = 0; h < 2; ++h) {
    const unsigned at = first + g + 8 * h;
    query[h] = at < p.queries ? p.query + query_offset(p, kv_head, at) : nullptr;
  }
#pragma unroll
  for (unsigned k = 0; k < kHead / 16; ++k) {
    const Fragment upper = load_fragment(query[0], k), lower = load_fragment(query[1], k);
    const std::uint32_t a[4] = {upper.low, lower.low, upper.high, lower.high};
#pragma unroll
    for (unsigned j = 0; j < kWarpKeys / 8; ++j)
      multiply_16x8x16(&c[4 * j], a, keys[j][k].low, keys[j][k].high);
  }
}

// Of one of a lane's two queries: m and alpha of every tile.
struct Maxima {
  float maximum[kTiles], alpha[kTiles];
};

template <unsigned kHead>
__device__ Maxima follow_maximum(const Shared<kHead>& shared, unsigned query, float scale) {
  Maxima result;
  float maximum = numerics::kLowestScore;
#pragma unroll
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    const float highest =
        fmaxf(shared.highest[2 * tile][query], shared.highest[2 * tile + 1][query]);
    const float next = fmaxf(maximum, highest * scale);
    result.alpha[tile] = numerics::softmax_exp2(maximum - next);
    result.maximum[tile] = maximum = next;
  }
  return result;
}

// The lane's two columns of its query in each of the warp's four octets of keys.
template <typename Take>
__device__ void for_columns(KeyRange seen, unsigned segment, unsigned h, Take&& take) {
  const unsigned column = segment + threadIdx.x / kWarp * kWarpKeys + threadIdx.x % 4 * 2;
#pragma unroll
  for (unsigned j = 0; j < kWarpKeys / 8; ++j) {
#pragma unroll
    for (unsigned e = 0; e < 2; ++e) {
      const unsigned at = column + 8 * j + e;
      take(4 * j + 2 * h + e, at >= seen.begin && at < seen.end);
    }
  }
}

// O of 16 dimensions from `d` on, of the block's queries.
template <unsigned kHead>
__device__ void weigh(float (&o)[8], const Shared<kHead>& shared, const Maxima (&maxima)[2],
                      unsigned d) {
  const unsigned lane = threadIdx.x % kWarp;
  const std::uint32_t weights = shared_address(&shared.weights[lane % 16][lane / 16 * 8]);
  const std::uint32_t values =
      shared_address(&shared.values[lane / 8 % 2 * 8 + lane % 8][d + lane / 16 * 8]);
#pragma unroll
  for (unsigned tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (unsigned i = 0; i < 8; ++i)
      o[i] = o[i] * maxima[i / 2 % 2].alpha[tile];
#pragma unroll
    for (unsigned k = 0; k < kTileKeys / 16; ++k) {
      const unsigned key = tile * kTileKeys + 16 * k;
      std::uint32_t a[4], b[4];
      load_matrix_x4(a, weights + key * sizeof(bf16));
      load_matrix_x4_transposed(b, values + key * sizeof(shared.values[0]));
      multiply_16x8x16(&o[0], a, b[0], b[1]);
      multiply_16x8x16(&o[4], a, b[2], b[3]);
    }
  }
}

// l of a query, of the whole quad.
template <unsigned kHead>
__device__ float sum_of(const Shared<kHead>& shared, const Maxima& maxima, unsigned query) {
  RowState state;
#pragma unroll
  for (unsigned tile = 0; tile < kTiles; ++tile)
    state.sum = state.sum * maxima.alpha[tile] + shared.sums[tile][query][threadIdx.x % 4];
  return row_sum(state);
}

// Half h of the lane's O.
__device__ void store(const AttentionProblem& p, unsigned kv_head, unsigned query, unsigned d,
                      const float (&o)[8], unsigned h, float maximum, float sum) {
  const std::size_t offset = query_offset(p, kv_head, query);
  const unsigned t = threadIdx.x % 4;
  float* partial = nullptr;
  if (p.partial != nullptr) {
    const std::size_t all = p.queries / p.group * std::size_t{p.query_heads};
    partial = p.partial + (blockIdx.x * all + offset / p.head_size) * (2 + p.head_size);
    if (threadIdx.x < 4 * 8 && t == 0) {
      partial[0] = maximum;
      partial[1] = sum;
    }
  }
#pragma unroll
  for (unsigned j = 0; j < 2; ++j) {
    const unsigned at = d + 8 * j + 2 * t;
    const float first = o[4 * j + 2 * h], second = o[4 * j + 2 * h + 1];
    if (partial != nullptr) {
      *reinterpret_cast<float2*>(partial + 2 + at) = {first, second};
    } else {
      *reinterpret_cast<std::uint32_t*>(p.out + offset + at) = quotients(first, second, sum);
    }
  }
}

template <unsigned kHead>
__global__ void __launch_bounds__(kThreads, 2)
    attention_decode_kernel(const AttentionProblem launched) {
  const AttentionProblem p = advanced(launched);
  extern __shared__ __align__(16) std::byte memory[];
  auto& shared = *reinterpret_cast<Shared<kHead>*>(memory);
  const unsigned kv_head = blockIdx.y, first = blockIdx.z * kQueries;
  const unsigned last = first + kQueries < p.queries ? first + kQueries : p.queries;
  const unsigned segment = (p.first_segment + blockIdx.x) * kSegmentKeys;
  const KeyRange keys = visible(p, first, last);
  const unsigned warp = threadIdx.x / kWarp, g = threadIdx.x % kWarp / 4, t = threadIdx.x % 4;

  let_next_begin();
  prefetch_rows(p, kv_head, segment, keys);
  wait_for_previous();
  float c[kWarpKeys / 2] = {};
  KeyFragments<kHead> fragments;
  load_keys<kHead>(fragments, p, kv_head, segment, keys);
  load_values<kHead>(shared, p, kv_head, segment, keys);
  score<kHead>(c, fragments, p, kv_head, first);

  KeyRange seen[2] = {};
#pragma unroll
  for (unsigned h = 0; h < 2; ++h) {
    if (first + g + 8 * h < p.queries) seen[h] = visible(p, first + g + 8 * h);
    float highest = __int_as_float(0xff800000);
    for_columns(seen[h], segment, h, [&](unsigned i, bool is_seen) {
      if (is_seen) highest = fmaxf(highest, c[i]);
    });
    highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, 2));
    highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, 1));
    if (t == 0) shared.highest[warp][g + 8 * h] = highest;
  }
  __syncthreads();

  const unsigned tile = warp / kWarpsOfTile;
  const bool ends_tile = warp % kWarpsOfTile == 1;
  Maxima maxima[2];
#pragma unroll
  for (unsigned h = 0; h < 2; ++h) {
    const unsigned query = g + 8 * h;
    maxima[h] = follow_maximum(shared, query, p.scores.scale);
    float maximum = maxima[h].maximum[0];
#pragma unroll
    for (unsigned i = 1; i < kTiles; ++i)
      maximum = i == tile ? maxima[h].maximum[i] : maximum;
    float sum = 0.0f;
    for_columns(seen[h], segment, h, [&](unsigned i, bool is_seen) {
      const float value = numerics::softmax_exp2(numerics::fma(c[i], p.scores.scale, -maximum));
      c[i] = is_seen ? value : 0.0f;
      sum = sum + c[i];
    });
    if (!ends_tile) shared.half_sums[tile][query][t] = sum;
#pragma unroll
    for (unsigned j = 0; j < kWarpKeys / 8; ++j) {
      const unsigned column = warp * kWarpKeys + 8 * j + 2 * t, i = 4 * j + 2 * h;
      *reinterpret_cast<std::uint32_t*>(&shared.weights[query][column]) =
          round_bf16x2(c[i], c[i + 1]);
    }
  }
  copy_wait<0>();
  __syncthreads();

  // The tile's sums go on where the warp before left them.
  if (ends_tile) {
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      float sum = shared.half_sums[tile][g + 8 * h][t];
      for_columns(seen[h], segment, h, [&](unsigned i, bool) { sum = sum + c[i]; });
      shared.sums[tile][g + 8 * h][t] = sum;
    }
  }
  const unsigned d = warp * 16;
  float o[8] = {};
  if (d < kHead) weigh<kHead>(o, shared, maxima, d);
  __syncthreads();
  if (d >= kHead) return;
#pragma unroll
  for (unsigned h = 0; h < 2; ++h) {
    const float sum = sum_of(shared, maxima[h], g + 8 * h);
    if (first + g + 8 * h < p.queries)
      store(p, kv_head, first + g + 8 * h, d, o, h, maxima[h].maximum[kTiles - 1], sum);
  }
}

template <unsigned kHead>
void launch_decode(const AttentionProblem& p, cudaStream_t stream) {
  constexpr std::size_t kSharedBytes = sizeof(Shared<kHead>);
  static const LargeLaunches allowed(attention_decode_kernel<kHead>, kSharedBytes);
  launch(stream,
         {.grid = dim3(p.segments, p.kv_heads, (p.queries + kQueries - 1) / kQueries),
          .threads = kThreads,
          .shared_bytes = kSharedBytes},
         attention_decode_kernel<kHead>, p);
}

}  // namespace

// ---- Launchers

void attention_decode(const AttentionProblem& problem, cudaStream_t stream) {
  if (problem.head_size == 64) return launch_decode<64>(problem, stream);
  launch_decode<128>(problem, stream);
}

}  // namespace engine::kernels::cuda
