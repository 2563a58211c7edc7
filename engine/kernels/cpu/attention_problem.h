// The index arithmetic of one attention launch.
//
// A query is one head of one row. Queries of a block are numbered by row, then by head among those
// that share the block's KV head.
#pragma once

#include <algorithm>

#include "kernels/ops.h"
#include "numerics/attention.h"

namespace engine::kernels::cpu {

struct AttentionProblem {
  const KvRows& kv;
  const HeadShape& heads;
  const AttentionArgs& args;
  std::size_t rows;

  std::size_t group() const { return heads.query_heads / heads.kv_heads; }
  std::size_t visible_begin(std::size_t row) const {
    return numerics::visible_begin(args.position + row, args.first, args.window);
  }
  std::size_t visible_end(std::size_t row) const { return args.position + row + 1; }
  // Element offset of a position's row in kv.k and kv.v.
  std::size_t kv_offset(std::size_t position, std::size_t kv_head) const {
    return (position % kv.slots * heads.kv_heads + kv_head) * heads.head_size;
  }
};

// Rows [row, row + rows) of one KV head, over the keys of positions [begin, end) that they see.
struct AttentionBlock {
  std::size_t kv_head, row, rows, begin, end;

  // Element offset of query q in [R, Q, D].
  std::size_t query_offset(const AttentionProblem& problem, std::size_t q) const {
    const std::size_t head = kv_head * problem.group() + q % problem.group();
    const std::size_t r = row + q / problem.group();
    return (r * problem.heads.query_heads + head) * problem.heads.head_size;
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
