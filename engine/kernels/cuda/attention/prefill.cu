#include "kernels/cuda/attention/prefill.h"

#include "kernels/cuda/attention/stages.cuh"
#include "kernels/cuda/device/wgmma.cuh"

namespace engine::kernels::cuda {
namespace {

using numerics::kTileKeys;

// ---- Kernels
//
// A block takes 128 queries of one KV head, 64 a warpgroup, through pairs of tiles of keys. A third
// warpgroup keeps the stages of keys and values full. The two that compute never wait for each
// other: while one's products run, the other one's scores go through softmax. Scores are one
// product for both tiles of a pair, softmax and the weighted sum of values one step for each.
// Source of the schedule: Shah et al., "FlashAttention-3", 2024.

constexpr unsigned kQueries = 128;

__device__ KeyRange in_tile(KeyRange keys, unsigned tile) {
  return {keys.begin > tile ? keys.begin - tile : 0, keys.end > tile ? keys.end - tile : 0};
}

// Where the block's queries begin, and which keys every query of this warp sees.
struct Rows {
  unsigned first;
  KeyRange by_all;

  __device__ Rows(const AttentionProblem& p, unsigned first_query) : first(first_query), by_all{} {
    const unsigned warp_first = first + threadIdx.x / kWarp * 16;
    if (warp_first + 16 <= p.queries)
      by_all = {visible(p, warp_first + 15).begin, visible(p, warp_first).end};
  }
  // The lane's two queries are this one, g of its warp's 16, and g + 8.
  __device__ unsigned query(unsigned h) const {
    return first + threadIdx.x / kWarp * 16 + threadIdx.x % kWarp / 4 + 8 * h;
  }
};

// What a warpgroup's thread computes with.
template <unsigned kHead>
struct Registers {
  std::uint32_t queries[kHead / 16][4];
  float scores[kPairKeys / 2] = {};          // of a pair; then its p
  std::uint32_t weights[kPairKeys / 16][4];  // p, rounded
  float out[kHead / 2] = {};
  float alpha[2][2];  // of each tile of the pair, for each of the lane's rows
  RowState state[2];
};

template <unsigned kHead>
__device__ void load_queries(Registers<kHead>& r, const AttentionProblem& p, const Rows& rows) {
#pragma unroll
  for (unsigned h = 0; h < 2; ++h) {
    const bool valid = rows.query(h) < p.queries;
    const bf16* row = p.query + query_offset(p, blockIdx.y, valid ? rows.query(h) : 0);
#pragma unroll
    for (unsigned i = 0; i < kHead / 8; ++i) {
      const bf16* pair = row + 8 * i + threadIdx.x % 4 * 2;
      r.queries[i / 2][i % 2 * 2 + h] = valid ? *reinterpret_cast<const std::uint32_t*>(pair) : 0;
    }
  }
}

// Begins S = Q K^T.
template <unsigned kHead>
__device__ void begin_scores(Registers<kHead>& r, const std::byte* keys) {
  pin_registers(r.scores);
  wgmma_begin();
#pragma unroll
  for (unsigned k = 0; k < kHead / 16; ++k) {
    const Descriptor b = tile_descriptor(shared_address(keys) + k / 4 * kBoxBytes);
    WgmmaRegisters<kPairKeys>::multiply(r.scores, r.queries[k], b + 2 * (k % 4), k > 0);
  }
  wgmma_commit();
  pin_registers(r.scores);
}

// Begins O = O alpha + P V for one tile of the pair.
template <unsigned kHead>
__device__ void begin_weighing(Registers<kHead>& r, const std::byte* values, unsigned tile) {
  const float(&alpha)[2] = r.alpha[tile];
  // Maxima seldom move on in a long context. A factor of 1 changes no bit.
  if (__any_sync(~0u, alpha[0] != 1.0f || alpha[1] != 1.0f)) {
#pragma unroll
    for (unsigned i = 0; i < kHead / 2; ++i)
      r.out[i] = r.out[i] * alpha[i / 2 % 2];
  }
  const Descriptor v = transposed_descriptor(shared_address(values), kBoxBytes);
  pin_registers(r.out);
  wgmma_begin();
#pragma unroll
  for (unsigned k = 0; k < kTileKeys / 16; ++k) {
    const unsigned at = tile * (kTileKeys / 16) + k;
    WgmmaTransposed<kHead>::multiply(r.out, r.weights[at], v + 128 * at);
  }
  wgmma_commit();
  pin_registers(r.out);
}

// numerics::softmax_exp2 with its comparison and choice in one instruction, which keeps NaN as
// well.
__device__ float softmax_exp2(float t) {
  float clamped;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(clamped) : "f"(t), "f"(-127.0f));
  return numerics::softmax_exp2_of_clamped(clamped);
}

// softmax_step of both tiles of a pair, for both rows, where every key is visible. The maxima of
// all four come first: a maximum has no order, and so they do not wait for each other.
template <unsigned kHead>
__device__ void softmax_all(Registers<kHead>& r, float scale) {
  const auto score = [&](unsigned tile, unsigned h, unsigned i) -> float& {
    return r.scores[tile * (kTileKeys / 2) + i / 2 * 4 + 2 * h + i % 2];
  };
  float highest[2][2];
#pragma unroll
  for (unsigned i = 0; i < kTileKeys / 4; ++i) {
#pragma unroll
    for (unsigned q = 0; q < 4; ++q) {
      float& of = highest[q / 2][q % 2];
      of = i == 0 ? score(q / 2, q % 2, i) : fmaxf(of, score(q / 2, q % 2, i));
    }
  }
#pragma unroll
  for (unsigned distance = 2; distance > 0; distance /= 2) {
#pragma unroll
    for (unsigned q = 0; q < 4; ++q) {
      float& of = highest[q / 2][q % 2];
      of = fmaxf(of, __shfl_xor_sync(~0u, of, distance));
    }
  }
  float maximum[2][2];
#pragma unroll
  for (unsigned q = 0; q < 4; ++q) {
    const unsigned tile = q / 2, h = q % 2;
    const float before = r.state[h].maximum;
    r.state[h].maximum = maximum[tile][h] = fmaxf(before, highest[tile][h] * scale);
    r.alpha[tile][h] = softmax_exp2(before - maximum[tile][h]);
  }
  float sum[2][2] = {};
#pragma unroll
  for (unsigned tile = 0; tile < 2; ++tile) {
#pragma unroll
    for (unsigned i = 0; i < kTileKeys / 4; ++i) {
#pragma unroll
      for (unsigned h = 0; h < 2; ++h) {
        float& s = score(tile, h, i);
        s = softmax_exp2(numerics::fma(s, scale, -maximum[tile][h]));
        sum[tile][h] = sum[tile][h] + s;
      }
    }
#pragma unroll
    for (unsigned h = 0; h < 2; ++h)
      r.state[h].sum = r.state[h].sum * r.alpha[tile][h] + sum[tile][h];
  }
}

// Both tiles of the pair whose first key is `first`, ascending.
template <unsigned kHead>
__device__ void softmax(Registers<kHead>& r, const Rows& rows, const AttentionProblem& p,
                        unsigned first) {
  const float scale = p.scores.scale;
  if (first >= rows.by_all.begin && first + kPairKeys <= rows.by_all.end)
    return softmax_all(r, scale);
#pragma unroll
  for (unsigned tile = 0; tile < 2; ++tile) {
    auto& scores = reinterpret_cast<float(&)[kTileKeys / 2]>(r.scores[tile * kTileKeys / 2]);
    const unsigned key = first + tile * kTileKeys;
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      const bool valid = rows.query(h) < p.queries;
      const KeyRange seen = valid ? visible(p, rows.query(h)) : KeyRange{};
      r.alpha[tile][h] = softmax_step<false>(r.state[h], scores, h, scale, in_tile(seen, key));
    }
  }
}

template <unsigned kHead>
__device__ void round_weights(Registers<kHead>& r) {
#pragma unroll
  for (unsigned i = 0; i < kPairKeys / 4; ++i)
    r.weights[i / 4][i % 4] = round_bf16x2(r.scores[2 * i], r.scores[2 * i + 1]);
}

template <unsigned kHead>
__device__ void attend(Registers<kHead>& r, const Stages<kHead>& stages, const Rows& rows,
                       const AttentionProblem& p, KeyRange keys) {
  const unsigned begin = keys.begin / kPairKeys, pairs = (keys.end - 1) / kPairKeys - begin + 1;
  stages.wait(0);
  begin_scores(r, stages.of(0));
  wgmma_wait<0>();
  pin_registers(r.scores);
  stages.release(0);
  softmax(r, rows, p, begin * kPairKeys);
  round_weights(r);
  for (unsigned i = 1; i < pairs; ++i) {
    const unsigned values = 2 * i - 1, next_keys = 2 * i;
    stages.wait(values);
    stages.wait(next_keys);
    begin_weighing(r, stages.of(values), 0);
    begin_scores(r, stages.of(next_keys));
    wgmma_wait<1>();
    pin_registers(r.out);
    begin_weighing(r, stages.of(values), 1);
    wgmma_wait<1>();
    pin_registers(r.scores);
    stages.release(next_keys);
    softmax(r, rows, p, (begin + i) * kPairKeys);
    wgmma_wait<0>();
    pin_registers(r.out);
#pragma unroll
    for (auto& weights : r.weights)
      pin_registers(weights);
    stages.release(values);
    round_weights(r);
  }
  const unsigned values = 2 * pairs - 1;
  stages.wait(values);
#pragma unroll
  for (unsigned tile = 0; tile < 2; ++tile) {
    begin_weighing(r, stages.of(values), tile);
    wgmma_wait<0>();
    pin_registers(r.out);
  }
}

template <unsigned kHead>
__device__ void store(const AttentionProblem& p, const Rows& rows, const Registers<kHead>& r) {
#pragma unroll
  for (unsigned h = 0; h < 2; ++h) {
    const float sum = row_sum(r.state[h]);
    if (rows.query(h) >= p.queries) continue;
    bf16* out = p.out + query_offset(p, blockIdx.y, rows.query(h)) + threadIdx.x % 4 * 2;
#pragma unroll
    for (unsigned j = 0; j < kHead / 8; ++j) {
      *reinterpret_cast<std::uint32_t*>(out + 8 * j) =
          quotients(r.out[4 * j + 2 * h], r.out[4 * j + 2 * h + 1], sum);
    }
  }
}

template <unsigned kHead>
__global__ void __launch_bounds__(kThreads, 1)
    attention_prefill_kernel(const __grid_constant__ CUtensorMap k,
                             const __grid_constant__ CUtensorMap v, const AttentionProblem p) {
  extern __shared__ std::byte shared[];
  const Stages<kHead> stages(shared);
  // The last queries see the most keys; they go first.
  const unsigned first = (gridDim.x - 1 - blockIdx.x) * kQueries;
  const unsigned last = first + kQueries < p.queries ? first + kQueries : p.queries;
  const KeyRange keys = visible(p, first, last);
  if (threadIdx.x == 0) stages.initialise();
  __syncthreads();
  let_next_begin();
  if (threadIdx.x >= kConsumers) {
    give_up_registers<40>();
    wait_for_previous();
    produce(stages, p, &k, &v, keys);
  } else {
    take_registers<232>();
    const Rows rows(p, first);
    Registers<kHead> r;
    wait_for_previous();
    load_queries(r, p, rows);
    attend(r, stages, rows, p, keys);
    store(p, rows, r);
  }
}

template <unsigned kHead>
void launch_prefill(const AttentionProblem& p, cudaStream_t stream) {
  constexpr unsigned kSharedBytes = Stages<kHead>::kSharedBytes;
  static const LargeLaunches allowed(attention_prefill_kernel<kHead>, kSharedBytes);
  const std::size_t width = std::size_t{p.kv_heads} * p.head_size;
  launch(stream,
         {.grid = dim3((p.queries + kQueries - 1) / kQueries, p.kv_heads),
          .threads = kThreads,
          .shared_bytes = kSharedBytes},
         attention_prefill_kernel<kHead>, tile_map(p.k, p.slots, width, kPairKeys),
         tile_map(p.v, p.slots, width, kPairKeys), p);
}

}  // namespace

// ---- Launchers

void attention_prefill(const AttentionProblem& problem, cudaStream_t stream) {
  if (problem.head_size == 64) return launch_prefill<64>(problem, stream);
  launch_prefill<128>(problem, stream);
}

}  // namespace engine::kernels::cuda
