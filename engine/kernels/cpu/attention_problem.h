// The index arithmetic of one attention launch, whatever kind of rows it reads.
//
// A query is one head of one row. Queries of a block are numbered by row, then by head among those
// that share the block's KV head. Keys are counted by position or, where rows attend to sets, by
// their place in the row's set.
#pragma once

#include <algorithm>

#include "kernels/ops.h"
#include "numerics/latent.h"

namespace engine::kernels::cpu {

struct AttentionProblem {
  const bf16* query;  // [R, Q, key_size]
  const bf16* k;      // [slots, G, stride]
  const bf16* v;      // [slots, G, stride]
  std::size_t stride;
  std::size_t slots;
  std::size_t query_heads, kv_heads;
  std::size_t key_size, value_size;
  std::size_t position, first, window;  // as in AttentionArgs
  numerics::ScoreMap scores;
  const std::int32_t* chosen;  // as in LatentAttentionArgs
  std::size_t most;
  std::size_t rows;

  std::size_t group() const { return query_heads / kv_heads; }
  std::size_t visible_begin(std::size_t row) const {
    return numerics::visible_begin(position + row, first, window);
  }
  std::size_t visible_end(std::size_t row) const {
    return chosen == nullptr ? position + row + 1 : numerics::chosen_count(position + row, most);
  }
  // Rows from `row` on that see the same first keys, so that they may share tiles: those whose sets
  // leave nothing out.
  std::size_t alike(std::size_t row) const {
    if (chosen == nullptr || rows == 0) return rows - row;
    const std::size_t complete = most > position ? std::min(rows, most - position) : 0;
    return row < complete ? complete - row : 1;
  }
  // Element offset in k and v of a key that `row` sees.
  std::size_t kv_offset(std::size_t key, std::size_t kv_head, std::size_t row) const {
    const std::size_t at =
        chosen == nullptr ? key : static_cast<std::size_t>(chosen[row * most + key]);
    return (at % slots * kv_heads + kv_head) * stride;
  }
  AttentionProblem one_row(std::size_t row) const {
    AttentionProblem problem = *this;
    problem.query += row * query_heads * key_size;
    problem.position += row;
    if (chosen != nullptr) problem.chosen += row * most;
    problem.rows = 1;
    return problem;
  }
};

// Rows [row, row + rows) of one KV head, over the keys [begin, end) that they see. REQUIRES: they
// are alike.
struct AttentionBlock {
  std::size_t kv_head, row, rows, begin, end;

  // Of query q among the [R, Q] of the launch.
  std::size_t query_index(const AttentionProblem& problem, std::size_t q) const {
    const std::size_t head = kv_head * problem.group() + q % problem.group();
    return (row + q / problem.group()) * problem.query_heads + head;
  }
};

// Columns [from, to) of a tile.
struct TileColumns {
  std::size_t from, to;
  bool meet(std::size_t begin, std::size_t end) const { return from < end && begin < to; }
};

inline TileColumns tile_columns(std::size_t tile, std::size_t begin, std::size_t end) {
  return {std::max(begin, tile) - tile, std::min(end, tile + numerics::kTileKeys) - tile};
}

}  // namespace engine::kernels::cpu
