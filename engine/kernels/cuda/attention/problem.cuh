// What the attention kernels share: the launch's shape, and who sees which key.
//
// The query heads of one KV head are neighbours in a row of queries, so a launch is, for each KV
// head, a list of rows * (Q / G) queries: query i belongs to position `position` + i / (Q / G).
#pragma once

#include "kernels/cuda/device/instructions.cuh"
#include "numerics/latent.h"

namespace engine::kernels::cuda {

struct AttentionProblem {
  bf16* out;          // [R, Q, D]
  const bf16* query;  // [R, Q, D]
  const bf16* k;      // [slots, G, D]
  const bf16* v;      // [slots, G, D]
  unsigned slots;
  unsigned query_heads, kv_heads, head_size, group;  // group = Q / G
  unsigned queries;                                  // rows * group
  unsigned position, first;
  std::size_t window;
  numerics::ScoreMap scores;
  const int* advance;  // of the position, or null
  // Decode of more than one segment: where each leaves its m, l and O.
  float* partial;          // [segments, R Q, 2 + D], or null
  unsigned first_segment;  // of 256 positions; segment s of the launch is first_segment + s
  unsigned segments;
  // Latent attention, where D is C + B.
  unsigned value_size = 0;               // C
  const std::int32_t* chosen = nullptr;  // [R, most]: each row's positions, or null
  unsigned most = 0;
};

// The problem as this repetition of it stands.
__device__ inline AttentionProblem advanced(AttentionProblem p) {
  p.position = static_cast<unsigned>(advanced(p.position, p.advance));
  return p;
}

// Positions [begin, end).
struct KeyRange {
  unsigned begin, end;
};

__device__ inline KeyRange visible(const AttentionProblem& p, unsigned query) {
  const unsigned at = p.position + query / p.group;
  return {static_cast<unsigned>(numerics::visible_begin(at, p.first, p.window)), at + 1};
}

// Of latent attention: what a row sees, counted by place in its set, where there is one.
__device__ inline KeyRange visible_latents(const AttentionProblem& p, unsigned row) {
  if (p.chosen == nullptr) return visible(p, row * p.group);
  return {0, static_cast<unsigned>(numerics::chosen_count(p.position + row, p.most))};
}

// What any of the queries [from, to) sees.
__device__ inline KeyRange visible(const AttentionProblem& p, unsigned from, unsigned to) {
  return {visible(p, from).begin, visible(p, to - 1).end};
}

// Element offset of query i of a KV head in `query` and `out`.
__device__ inline std::size_t query_offset(const AttentionProblem& p, unsigned kv_head,
                                           unsigned query) {
  const std::size_t row = query / p.group, head = kv_head * p.group + query % p.group;
  return (row * p.query_heads + head) * p.head_size;
}

// Element offset of the key of a position in `k` and `v`.
__device__ inline std::size_t key_offset(const AttentionProblem& p, unsigned kv_head,
                                         unsigned position) {
  const unsigned slot = position < p.slots ? position : position % p.slots;
  return (std::size_t{slot} * p.kv_heads + kv_head) * p.head_size;
}

// A tile whose 64 keys are all read and lie in neighbouring slots: the common case, which needs no
// question for each row.
__device__ inline bool is_plain(const AttentionProblem& p, unsigned tile, KeyRange keys) {
  return tile >= keys.begin && tile + numerics::kTileKeys <= keys.end &&
         tile + numerics::kTileKeys <= p.slots;
}

// ---- The accumulator fragment's rows: lane 4 g + t of a warp holds, for its rows g and g + 8, the
// columns 8 j + 2 t and 8 j + 2 t + 1. c[4 j + 2 h + e] is row g + 8 h, column 8 j + 2 t + e.

struct RowState {
  float maximum = numerics::kLowestScore;
  float sum = 0.0f;  // l_q of this lane
};

// One online-softmax step of a row over a tile of 64 scores: scores become p (not rounded yet), the
// state moves on, alpha is returned. kAll: every key is visible.
template <bool kAll, unsigned kCount>
__device__ inline float softmax_step(RowState& state, float (&c)[kCount], unsigned h, float scale,
                                     KeyRange visible_columns) {
  const unsigned column = threadIdx.x % 4 * 2;
  const auto seen = [&](unsigned i) {
    const unsigned at = i / 4 * 8 + column + (i & 1);
    return kAll || (at >= visible_columns.begin && at < visible_columns.end);
  };
  float highest = __int_as_float(0xff800000);
#pragma unroll
  for (unsigned j = 0; j < kCount / 4; ++j) {
#pragma unroll
    for (unsigned i = 4 * j + 2 * h; i < 4 * j + 2 * h + 2; ++i)
      if (seen(i)) highest = fmaxf(highest, c[i]);
  }
  highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, 2));
  highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, 1));
  const float maximum = fmaxf(state.maximum, highest * scale);
  const float alpha = numerics::softmax_exp2(state.maximum - maximum);
  state.maximum = maximum;
  float sum = 0.0f;
#pragma unroll
  for (unsigned j = 0; j < kCount / 4; ++j) {
#pragma unroll
    for (unsigned i = 4 * j + 2 * h; i < 4 * j + 2 * h + 2; ++i) {
      const float value = numerics::softmax_exp2(numerics::fma(c[i], scale, -maximum));
      c[i] = seen(i) ? value : 0.0f;
      sum = sum + c[i];
    }
  }
  state.sum = state.sum * alpha + sum;
  return alpha;
}

// The lanes' sums by the xor tree 2, 1.
__device__ inline float row_sum(const RowState& state) {
  const float half = state.sum + __shfl_xor_sync(~0u, state.sum, 2);
  return half + __shfl_xor_sync(~0u, half, 1);
}

__device__ inline std::uint32_t quotients(float a, float b, float sum) {
  return round_bf16x2(a / sum + 0.0f, b / sum + 0.0f);
}

}  // namespace engine::kernels::cuda
