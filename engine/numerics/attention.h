// The two orders of softmax attention, and a plain reference of both.
//
// Shared: scores and the weighted sum of values run through fused16. A query sees the keys of
// absolute positions [begin, end). Keys are taken in tiles of 64 aligned to position 0, ascending;
// a tile without a visible key changes nothing, whether it is run or skipped. Keys that are not
// visible get p = 0 and are read as zero (they may hold anything, so they are never read).
//
// State of a row: maximum m (in units of log2), one sum l_q for each of the four lanes of a quad of
// the card's accumulator layout (lane q owns the tile's columns c with (c mod 8) / 2 == q), and O.
// It begins at m = lowest float, l = 0, O = +0. Per tile, with scale = log2(e) / sqrt(D) or what a
// ScoreMap says:
//
//   S      = fused chain over D from +0, for each visible key; tanh(S * inner) where scores are
//   capped m'     = max(m, max(S) * scale)                 alpha = softmax_exp2(m - m') p      =
//   softmax_exp2(fma(S, scale, -m')) l_q    = (l_q * alpha) + t_q                    t_q = sum of
//   own p, ascending from +0 O      = fused chain over the tile's 64 keys, accumulator O * alpha,
//   with p rounded to bf16
//
// At the end l = (l_0 + l_2) + (l_1 + l_3), the xor tree 2, 1, and out = bf16(O / l + 0): the added
// zero makes every zero +0, so the sign that O had there never shows.
//
//   prefill order  one such run over all tiles.
//   decode order   one run for each segment of 256 positions (aligned to 0, ascending, those with a
//                  visible key); the first one's m, l, O are then merged with each next m_i, l_i,
//                  O_i: m' = max(m, m_i), a = softmax_exp2(m - m'), b = softmax_exp2(m_i - m'), l =
//                  l * a + l_i * b, O = O * a + O_i * b (two products and a sum, no fma).
//
// A window moves `begin` and nothing else: tiles and segments stay where they are, so which keys
// share a tile is a function of absolute position, and a row kept from an earlier launch has the
// bits of a cold run whatever its layer's window is.
//
// A row depends on nothing but its query and its visible keys: not on the launch's other rows. The
// exception is an infinite or NaN value row that only another row of the launch sees: rows of a
// launch may then be NaN, because a matrix unit multiplies it by p = 0.
// Source of the online form: Dao et al., "FlashAttention-2", 2023.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "numerics/activation.h"
#include "numerics/bf16.h"
#include "numerics/exp.h"
#include "numerics/fused16.h"
#include "numerics/reduce.h"

namespace engine::numerics {

inline constexpr std::size_t kTileKeys = 64;
inline constexpr std::size_t kSegmentKeys = 256;
inline constexpr std::size_t kQuadLanes = 4;
inline constexpr float kLowestScore = -0x1.fffffep+127f;

ENGINE_HD constexpr std::size_t quad_lane(std::size_t column) {
  return column % 8 / 2;
}

// log2(e) / sqrt(D): one rounding each for the root and the quotient.
inline float score_scale(std::size_t head_size) {
  return 0x1.715476p+0f / std::sqrt(static_cast<float>(head_size));
}

// The same for scores that are multiplied by `multiplier`: one rounding.
inline float score_scale_of(float multiplier) {
  return 0x1.715476p+0f * multiplier;
}

// What becomes of a score before the softmax.
struct ScoreMap {
  float scale;      // of S, in units of log2
  float inner = 0;  // not 0: S becomes tanh(S * inner) first
};

// `scale` in units of log2; scores s are capped as cap * tanh(s / cap), unless cap is 0.
inline ScoreMap score_map(float scale, float cap) {
  if (cap == 0.0f) return {scale};
  return {cap * 0x1.715476p+0f, (scale * 0x1.62e43p-1f) / cap};
}

// Start of the keys that the query of position p sees: [visible_begin(...), p + 1).
ENGINE_HD constexpr std::size_t visible_begin(std::size_t p, std::size_t first,
                                              std::size_t window) {
  const std::size_t oldest = p + 1 > window ? p + 1 - window : 0;
  return oldest > first ? oldest : first;
}

// One query head of one row, in host memory.
struct AttentionRow {
  const bf16* query;       // [D]
  const bf16* k;           // [slots, stride], at the row's KV head
  const bf16* v;           // [slots, stride]
  std::size_t stride;      // elements between slots
  std::size_t slots;       // position p lives in slot p mod slots
  std::size_t head_size;   // D, a multiple of 16
  std::size_t begin, end;  // visible positions; REQUIRES: begin < end
  ScoreMap scores;
  std::size_t value_size = 0;            // of v's rows, where it is not D
  const std::int32_t* chosen = nullptr;  // [end]: positions of a set, which begin and end count
};

struct SoftmaxState {
  explicit SoftmaxState(std::size_t head_size) : out(head_size, 0.0f) {}

  float maximum = kLowestScore;
  float lanes[kQuadLanes] = {};  // l_q
  std::vector<float> out;        // O [D]

  float sum() const {
    float tree[kQuadLanes];
    std::copy_n(lanes, kQuadLanes, tree);
    return xor_tree(tree, kQuadLanes);
  }
};

namespace detail {

inline void attend_tile(SoftmaxState& state, const AttentionRow& row, std::size_t tile) {
  const float scale = row.scores.scale;
  const std::size_t from = std::max(row.begin, tile) - tile;
  const std::size_t to = std::min(row.end, tile + kTileKeys) - tile;
  const auto slot = [&](std::size_t column) {
    const std::size_t key = tile + column;
    const std::size_t position =
        row.chosen == nullptr ? key : static_cast<std::size_t>(row.chosen[key]);
    return position % row.slots * row.stride;
  };

  float scores[kTileKeys];
  float highest = -std::numeric_limits<float>::infinity();
  for (std::size_t c = from; c < to; ++c) {
    scores[c] = fused_chain(0.0f, row.query, row.k + slot(c), row.head_size);
    if (row.scores.inner != 0.0f) scores[c] = tanh(scores[c] * row.scores.inner);
    highest = scores[c] > highest ? scores[c] : highest;
  }
  const float maximum = std::max(state.maximum, highest * scale);
  const float alpha = softmax_exp2(state.maximum - maximum);
  state.maximum = maximum;

  bf16 p[kTileKeys] = {};
  float sums[kQuadLanes] = {};
  for (std::size_t c = from; c < to; ++c) {
    const float value = softmax_exp2(fma(scores[c], scale, -maximum));
    sums[quad_lane(c)] += value;
    p[c] = from_float(value);
  }
  for (std::size_t q = 0; q < kQuadLanes; ++q) {
    state.lanes[q] = state.lanes[q] * alpha + sums[q];
  }
  for (std::size_t d = 0; d < state.out.size(); ++d) {
    bf16 values[kTileKeys] = {};
    for (std::size_t c = from; c < to; ++c)
      values[c] = row.v[slot(c) + d];
    state.out[d] = fused_chain(state.out[d] * alpha, p, values, kTileKeys);
  }
}

inline SoftmaxState attend(const AttentionRow& row) {
  SoftmaxState state(row.value_size != 0 ? row.value_size : row.head_size);
  for (std::size_t tile = row.begin / kTileKeys * kTileKeys; tile < row.end; tile += kTileKeys) {
    attend_tile(state, row, tile);
  }
  return state;
}

inline void write_out(bf16* out, const SoftmaxState& state, float sum) {
  for (std::size_t d = 0; d < state.out.size(); ++d) {
    out[d] = from_float(state.out[d] / sum + 0.0f);
  }
}

}  // namespace detail

// out [D].
inline void attention_prefill_order(bf16* out, const AttentionRow& row) {
  const SoftmaxState state = detail::attend(row);
  detail::write_out(out, state, state.sum());
}

inline void attention_decode_order(bf16* out, const AttentionRow& row) {
  SoftmaxState merged(0);
  float sum = 0.0f;
  const std::size_t first = row.begin / kSegmentKeys * kSegmentKeys;
  for (std::size_t segment = first; segment < row.end; segment += kSegmentKeys) {
    AttentionRow part = row;
    part.begin = std::max(row.begin, segment);
    part.end = std::min(row.end, segment + kSegmentKeys);
    const SoftmaxState state = detail::attend(part);
    if (segment == first) {
      merged = state;
      sum = state.sum();
      continue;
    }
    const float maximum = std::max(merged.maximum, state.maximum);
    const float a = softmax_exp2(merged.maximum - maximum);
    const float b = softmax_exp2(state.maximum - maximum);
    merged.maximum = maximum;
    sum = sum * a + state.sum() * b;
    for (std::size_t d = 0; d < merged.out.size(); ++d) {
      merged.out[d] = merged.out[d] * a + state.out[d] * b;
    }
  }
  detail::write_out(out, merged, sum);
}

}  // namespace engine::numerics
