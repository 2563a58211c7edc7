#include "kernels/cuda/attention/general.h"

#include <string>

namespace engine::kernels::cuda {
namespace {

using numerics::kSegmentKeys;
using numerics::kTileKeys;

// ---- Kernels
//
// The general kernel, for any head size, both orders and capped scores, on mma.sync. A block takes
// 64 queries of one KV head, 16 a warp, through the tiles of keys that any of them sees; in decode,
// through those of one segment. Keys that none of the block's queries sees are never loaded.

constexpr unsigned kWarps = 4;
constexpr unsigned kThreads = kWarps * kWarp;
constexpr unsigned kQueries = kWarps * 16;

template <unsigned kHead>  // head sizes up to this
struct Layout {
  static constexpr unsigned kStride = kHead * sizeof(bf16) + 16;  // no bank conflicts in ldmatrix
  static constexpr unsigned kTileBytes = kTileKeys * kStride;
  static constexpr unsigned kStages = kHead <= 128 ? 4 : 2;  // of a tile of K and one of V
  static constexpr unsigned kSharedBytes = kQueries * kStride + kStages * 2 * kTileBytes;
};

// Rows of D elements to shared memory, 16 bytes a copy; rows that are not `valid` become zero.
template <unsigned kHead, typename Source>
__device__ void load_rows(std::uint32_t to, unsigned rows, unsigned head_size, Source&& source) {
  constexpr unsigned kPieces = kHead / 8;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < rows * kPieces; i += kThreads) {
    const unsigned row = i / kPieces, piece = i % kPieces;
    if (piece * 8 >= head_size) continue;
    const bf16* from = source(row);
    copy_16(to + row * Layout<kHead>::kStride + piece * 16, from + piece * 8, from != nullptr);
  }
}

template <unsigned kHead>
__device__ void load_queries(std::uint32_t to, const AttentionProblem& p, unsigned kv_head,
                             unsigned first) {
  load_rows<kHead>(to, kQueries, p.head_size, [&](unsigned row) -> const bf16* {
    return first + row < p.queries ? p.query + query_offset(p, kv_head, first + row) : nullptr;
  });
}

template <unsigned kHead>
__device__ void load_tile(std::uint32_t to, const AttentionProblem& p, unsigned kv_head,
                          unsigned tile, KeyRange keys) {
  const std::size_t width = std::size_t{p.kv_heads} * p.head_size;
  const bool plain = is_plain(p, tile, keys);
  for (const bf16* rows : {p.k, p.v}) {
    if (plain) {
      const bf16* first = rows + tile * width + kv_head * p.head_size;
      load_rows<kHead>(to, kTileKeys, p.head_size,
                       [&](unsigned row) { return first + row * width; });
      to += Layout<kHead>::kTileBytes;
      continue;
    }
    load_rows<kHead>(to, kTileKeys, p.head_size, [&](unsigned row) -> const bf16* {
      const unsigned at = tile + row;
      if (at < keys.begin || at >= keys.end) return nullptr;
      return rows + key_offset(p, kv_head, at);
    });
    to += Layout<kHead>::kTileBytes;
  }
}

// S = Q K^T of the warp's 16 queries.
template <unsigned kHead>
__device__ void score(float (&s)[kTileKeys / 2], std::uint32_t queries, std::uint32_t keys,
                      unsigned head_size) {
  constexpr unsigned kStride = Layout<kHead>::kStride;
  const unsigned lane = threadIdx.x % kWarp;
  queries += (lane % 16) * kStride + lane / 16 * 16;
  keys += (lane / 16 * 8 + lane % 8) * kStride + lane / 8 % 2 * 16;
  for (float& x : s)
    x = 0.0f;
#pragma unroll
  for (unsigned k = 0; k < kHead / 16; ++k) {
    if (k * 16 >= head_size) break;
    std::uint32_t a[4];
    load_matrix_x4(a, queries + k * 32);
#pragma unroll
    for (unsigned j = 0; j < kTileKeys / 16; ++j) {
      std::uint32_t b[4];
      load_matrix_x4(b, keys + j * 16 * kStride + k * 32);
      multiply_16x8x16(&s[8 * j], a, b[0], b[1]);
      multiply_16x8x16(&s[8 * j + 4], a, b[2], b[3]);
    }
  }
}

// O = O alpha + P V.
template <unsigned kHead>
__device__ void weigh(float (&o)[kHead / 2], const float (&p)[kTileKeys / 2],
                      const float (&alpha)[2], std::uint32_t values, unsigned head_size) {
  constexpr unsigned kStride = Layout<kHead>::kStride;
  const unsigned lane = threadIdx.x % kWarp;
  values += (lane / 8 % 2 * 8 + lane % 8) * kStride + lane / 16 * 16;
#pragma unroll
  for (unsigned i = 0; i < kHead / 2; ++i)
    o[i] = o[i] * alpha[i / 2 % 2];
#pragma unroll
  for (unsigned k = 0; k < kTileKeys / 16; ++k) {
    const float* c = &p[8 * k];
    const std::uint32_t a[4] = {round_bf16x2(c[0], c[1]), round_bf16x2(c[2], c[3]),
                                round_bf16x2(c[4], c[5]), round_bf16x2(c[6], c[7])};
#pragma unroll
    for (unsigned d = 0; d < kHead / 16; ++d) {
      if (d * 16 >= head_size) break;
      std::uint32_t b[4];
      load_matrix_x4_transposed(b, values + k * 16 * kStride + d * 32);
      multiply_16x8x16(&o[8 * d], a, b[0], b[1]);
      multiply_16x8x16(&o[8 * d + 4], a, b[2], b[3]);
    }
  }
}

// Row h (of two) of this lane: to `out`, or to the segment's part of `partial`.
template <unsigned kHead>
__device__ void store_row(const AttentionProblem& p, unsigned kv_head, unsigned query,
                          const float (&o)[kHead / 2], const RowState& state, float sum,
                          unsigned h) {
  const unsigned lane = threadIdx.x % 4;
  const std::size_t offset = query_offset(p, kv_head, query);
  float* partial = nullptr;
  if (p.partial != nullptr) {
    const std::size_t all = p.queries / p.group * std::size_t{p.query_heads};
    partial = p.partial + (blockIdx.x * all + offset / p.head_size) * (2 + p.head_size);
    if (lane == 0) {
      partial[0] = state.maximum;
      partial[1] = sum;
    }
  }
#pragma unroll
  for (unsigned j = 0; j < kHead / 8; ++j) {
    const unsigned d = 8 * j + 2 * lane;
    const float first = o[4 * j + 2 * h], second = o[4 * j + 2 * h + 1];
    if (d >= p.head_size) break;
    if (partial != nullptr) {
      *reinterpret_cast<float2*>(partial + 2 + d) = {first, second};
    } else {
      *reinterpret_cast<std::uint32_t*>(p.out + offset + d) = quotients(first, second, sum);
    }
  }
}

// The columns of the tile that a query sees.
__device__ KeyRange in_tile(KeyRange keys, unsigned tile) {
  const unsigned begin = keys.begin > tile ? keys.begin - tile : 0;
  const unsigned end = keys.end > tile ? keys.end - tile : 0;
  return {begin, end};
}

template <unsigned kHead>
__global__ void __launch_bounds__(kThreads) attention_kernel(const AttentionProblem launched) {
  using L = Layout<kHead>;
  const AttentionProblem p = advanced(launched);
  extern __shared__ __align__(16) std::byte shared[];
  const std::uint32_t queries = shared_address(shared);
  const std::uint32_t tiles = queries + kQueries * L::kStride;
  const unsigned kv_head = blockIdx.y;
  // The last queries see the most keys; they go first.
  const unsigned block = p.partial != nullptr ? blockIdx.z : gridDim.x - 1 - blockIdx.x;
  const unsigned first = block * kQueries;
  const unsigned last = first + kQueries < p.queries ? first + kQueries : p.queries;
  KeyRange keys = visible(p, first, last);
  if (p.partial != nullptr) {
    const unsigned segment = (p.first_segment + blockIdx.x) * kSegmentKeys;
    keys.begin = keys.begin > segment ? keys.begin : segment;
    keys.end = keys.end < segment + kSegmentKeys ? keys.end : segment + kSegmentKeys;
  }
  const unsigned begin = keys.begin / kTileKeys;
  const unsigned end = keys.end > keys.begin ? (keys.end + kTileKeys - 1) / kTileKeys : begin;

  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const unsigned mine = first + warp * 16 + lane / 4;  // and mine + 8
  KeyRange seen[2] = {};
  for (unsigned h = 0; h < 2; ++h)
    if (mine + 8 * h < p.queries) seen[h] = visible(p, mine + 8 * h);
  const bool active = first + warp * 16 < p.queries;

  let_next_begin();
  wait_for_previous();
  load_queries<kHead>(queries, p, kv_head, first);
  for (unsigned i = 0; i < L::kStages - 1; ++i) {
    if (begin + i < end)
      load_tile<kHead>(tiles + i * 2 * L::kTileBytes, p, kv_head, (begin + i) * kTileKeys, keys);
    copy_commit();
  }
  RowState state[2];
  float o[kHead / 2] = {};
  for (unsigned i = 0; begin + i < end; ++i) {
    copy_wait<L::kStages - 2>();
    __syncthreads();
    const unsigned next = i + L::kStages - 1;
    if (begin + next < end) {
      load_tile<kHead>(tiles + next % L::kStages * 2 * L::kTileBytes, p, kv_head,
                       (begin + next) * kTileKeys, keys);
    }
    copy_commit();
    if (!active) continue;
    const unsigned tile = (begin + i) * kTileKeys;
    const std::uint32_t stage = tiles + i % L::kStages * 2 * L::kTileBytes;
    float s[kTileKeys / 2], alpha[2];
    score<kHead>(s, queries + warp * 16 * L::kStride, stage, p.head_size);
    if (p.scores.inner != 0.0f) {
#pragma unroll
      for (float& x : s)
        x = numerics::tanh(x * p.scores.inner);
    }
    for (unsigned h = 0; h < 2; ++h)
      alpha[h] = softmax_step<false>(state[h], s, h, p.scores.scale, in_tile(seen[h], tile));
    weigh<kHead>(o, s, alpha, stage + L::kTileBytes, p.head_size);
  }
  if (!active) return;
  for (unsigned h = 0; h < 2; ++h) {
    const float sum = row_sum(state[h]);
    if (mine + 8 * h < p.queries) store_row<kHead>(p, kv_head, mine + 8 * h, o, state[h], sum, h);
  }
}

template <unsigned kHead>
void launch_attention(const AttentionProblem& p, cudaStream_t stream) {
  using L = Layout<kHead>;
  static const LargeLaunches allowed(attention_kernel<kHead>, L::kSharedBytes);
  const unsigned blocks = (p.queries + kQueries - 1) / kQueries;
  const dim3 grid =
      p.partial != nullptr ? dim3(p.segments, p.kv_heads, blocks) : dim3(blocks, p.kv_heads, 1);
  launch(stream, {.grid = grid, .threads = kThreads, .shared_bytes = L::kSharedBytes},
         attention_kernel<kHead>, p);
}

}  // namespace

// ---- Launchers

void attention_general(const AttentionProblem& problem, cudaStream_t stream) {
  if (problem.head_size <= 32) return launch_attention<32>(problem, stream);
  if (problem.head_size <= 64) return launch_attention<64>(problem, stream);
  if (problem.head_size <= 128) return launch_attention<128>(problem, stream);
  if (problem.head_size <= 256) return launch_attention<256>(problem, stream);
  throw BackendError("the CUDA backend has no attention for heads of " +
                     std::to_string(problem.head_size) + " elements; 256 is the largest");
}

}  // namespace engine::kernels::cuda
