// Online softmax of a block of queries in the order of numerics/attention.h: the queries that share
// a KV head take each tile of keys together, so that it is decoded once. Included like
// fused16-inl.h.
#if defined(ENGINE_KERNELS_CPU_ATTENTION_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENGINE_KERNELS_CPU_ATTENTION_BLOCK_INL_H_
#undef ENGINE_KERNELS_CPU_ATTENTION_BLOCK_INL_H_
#else
#define ENGINE_KERNELS_CPU_ATTENTION_BLOCK_INL_H_
#endif

#include <cassert>
#include <limits>
#include <vector>

#include "kernels/cpu/attention_problem.h"
#include "kernels/cpu/fused16-inl.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

using numerics::kQuadLanes;
using numerics::kTileKeys;

// Plain loops over floats: compiled for the target, hence vectorised with its fma.
inline float highest_of(const float* scores, TileColumns own) {
  float highest = -std::numeric_limits<float>::infinity();
  for (std::size_t c = own.from; c < own.to; ++c) {
    highest = scores[c] > highest ? scores[c] : highest;
  }
  return highest;
}

inline void cap_scores(float* scores, float inner, TileColumns own) {
  for (std::size_t c = own.from; c < own.to; ++c)
    scores[c] = numerics::tanh(scores[c] * inner);
}

inline void probabilities(float* HWY_RESTRICT p, const float* HWY_RESTRICT scores, float scale,
                          float maximum, TileColumns own) {
  for (std::size_t c = 0; c < kTileKeys; ++c) {
    p[c] = numerics::softmax_exp2(numerics::fma(scores[c], scale, -maximum));
  }
  std::fill(p, p + own.from, 0.0f);
  std::fill(p + own.to, p + kTileKeys, 0.0f);
}

inline void add_to_lanes(float* HWY_RESTRICT lanes, const float* HWY_RESTRICT p, float alpha) {
  float sums[kQuadLanes] = {};
  for (std::size_t c = 0; c < kTileKeys; c += 2 * kQuadLanes) {
    for (std::size_t q = 0; q < kQuadLanes; ++q) {
      sums[q] = (sums[q] + p[c + 2 * q]) + p[c + 2 * q + 1];
    }
  }
  for (std::size_t q = 0; q < kQuadLanes; ++q)
    lanes[q] = lanes[q] * alpha + sums[q];
}

class AttentionRun {
 public:
  AttentionRun(const AttentionProblem& problem, const AttentionBlock& block)
      : problem_(problem),
        block_(block),
        key_size_(problem.key_size),
        panels_((problem.value_size + kPanel - 1) / kPanel),
        queries_(block.rows * problem.group()),
        query_(key_size_ / kGroup * queries_),
        p_(kTileKeys / kGroup * queries_),
        scores_(queries_ * kTileKeys / kPanel),
        out_(queries_ * panels_),
        states_(queries_) {
    assert(key_size_ <= kMaxKeySize && key_size_ % kGroup == 0);
    for (std::size_t q = 0; q < queries_; ++q) {
      const bf16* x = problem.query + block.query_index(problem, q) * key_size_;
      for (std::size_t g = 0; g < key_size_ / kGroup; ++g) {
        decode_row(query_[g * queries_ + q], x + g * kGroup);
      }
    }
    const std::size_t first = block.begin / kTileKeys * kTileKeys;
    for (std::size_t tile = first; tile < block.end; tile += kTileKeys)
      add_tile(tile);
  }

  std::size_t queries() const { return queries_; }
  const float* out(std::size_t q) const { return out_[q * panels_].values; }  // [value size]
  float maximum(std::size_t q) const { return states_[q].maximum; }
  float sum(std::size_t q) const {
    float tree[kQuadLanes];
    std::copy_n(states_[q].lanes, kQuadLanes, tree);
    return numerics::xor_tree(tree, kQuadLanes);
  }

 private:
  struct alignas(64) PanelRow {
    float values[kPanel] = {};
  };
  struct State {
    float maximum = numerics::kLowestScore;
    float lanes[kQuadLanes] = {};
  };
  // A tile, the queries [first, last) that see some of it, and the keys that one of them sees.
  struct Tile {
    std::size_t position, first, last;
    TileColumns keys;
  };

  float* scores(std::size_t q) { return scores_[q * kTileKeys / kPanel].values; }

  void add_tile(std::size_t position) {
    std::size_t row = block_.row, end = block_.row + block_.rows;
    while (row < end && problem_.visible_end(row) <= position)
      ++row;
    while (row < end && problem_.visible_begin(end - 1) >= position + kTileKeys)
      --end;
    if (row == end) return;
    const std::size_t group = problem_.group();
    const Tile tile{position, (row - block_.row) * group, (end - block_.row) * group,
                    tile_columns(position, std::max(block_.begin, problem_.visible_begin(row)),
                                 std::min(block_.end, problem_.visible_end(end - 1)))};
    score(tile);
    for (std::size_t q = tile.first; q < tile.last; ++q)
      soften(tile, q);
    accumulate(tile);
  }

  // The row of a key, or zeros for one that no query of the tile sees: such rows are never read.
  const bf16* key_row(const bf16* rows, const Tile& tile, std::size_t column) const {
    static constexpr bf16 kZeros[kMaxKeySize] = {};
    if (column < tile.keys.from || column >= tile.keys.to) return kZeros;
    const std::size_t last = block_.row + block_.rows - 1;
    return rows + problem_.kv_offset(tile.position + column, block_.kv_head, last);
  }

  void score(const Tile& tile) {
    std::fill(&scores_[tile.first * kTileKeys / kPanel],
              scores_.data() + tile.last * kTileKeys / kPanel, PanelRow{});
    const bf16* rows[kPanel];
    alignas(64) bf16 transposed[kGroup * kPanel];
    DecodedGroup keys;
    const TowardZero rounding;
    for (std::size_t half = 0; half < kTileKeys; half += kPanel) {
      if (!tile.keys.meet(half, half + kPanel)) continue;
      for (std::size_t c = 0; c < kPanel; ++c)
        rows[c] = key_row(problem_.k, tile, half + c);
      for (std::size_t g = 0; g < key_size_ / kGroup; ++g) {
        transpose_group(transposed, rows, g * kGroup);
        decode_group(keys, transposed, kPanel);
        fused16_rows(scores(tile.first) + half, kTileKeys, &query_[g * queries_ + tile.first],
                     tile.last - tile.first, keys);
      }
    }
  }

  void soften(const Tile& tile, std::size_t q) {
    const numerics::ScoreMap& map = problem_.scores;
    const float scale = map.scale;
    const std::size_t row = block_.row + q / problem_.group();
    const TileColumns own =
        tile_columns(tile.position, std::max(block_.begin, problem_.visible_begin(row)),
                     std::min(block_.end, problem_.visible_end(row)));
    if (map.inner != 0.0f) cap_scores(scores(q), map.inner, own);
    State& state = states_[q];
    const float maximum = std::max(state.maximum, highest_of(scores(q), own) * scale);
    const float alpha = numerics::softmax_exp2(state.maximum - maximum);
    state.maximum = maximum;

    float p[kTileKeys];
    probabilities(p, scores(q), scale, maximum, own);
    add_to_lanes(state.lanes, p, alpha);
    bf16 rounded[kTileKeys];
    for (std::size_t c = 0; c < kTileKeys; ++c)
      rounded[c] = numerics::from_float(p[c]);
    for (std::size_t g = 0; g < kTileKeys / kGroup; ++g) {
      decode_row(p_[g * queries_ + q], rounded + g * kGroup);
    }
    float* out = out_[q * panels_].values;
    for (std::size_t d = 0; d < panels_ * kPanel; ++d)
      out[d] = out[d] * alpha;
  }

  void accumulate(const Tile& tile) {
    alignas(64) bf16 rows[kGroup * kPanel] = {};
    DecodedGroup values;
    const TowardZero rounding;
    for (std::size_t panel = 0; panel < panels_; ++panel) {
      const std::size_t d = panel * kPanel, width = std::min(kPanel, problem_.value_size - d);
      for (std::size_t g = 0; g < kTileKeys / kGroup; ++g) {
        if (!tile.keys.meet(g * kGroup, (g + 1) * kGroup)) continue;
        for (std::size_t k = 0; k < kGroup; ++k) {
          std::fill_n(
              std::copy_n(key_row(problem_.v, tile, g * kGroup + k) + d, width, rows + k * kPanel),
              kPanel - width, bf16{0});
        }
        decode_group(values, rows, kPanel);
        fused16_rows(out_[tile.first * panels_ + panel].values, panels_ * kPanel,
                     &p_[g * queries_ + tile.first], tile.last - tile.first, values);
      }
    }
  }

  const AttentionProblem& problem_;
  AttentionBlock block_;
  std::size_t key_size_, panels_, queries_;
  std::vector<DecodedRow> query_;  // [key size/16, queries]
  std::vector<DecodedRow> p_;      // [64/16, queries]
  std::vector<PanelRow> scores_;   // [queries, 2]
  std::vector<PanelRow> out_;      // [queries, panels]
  std::vector<State> states_;
};

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // toggle
