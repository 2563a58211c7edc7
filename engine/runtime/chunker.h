// How a prompt is cut into prefill chunks. Pure: no model, no buffer.
#pragma once

#include <cstddef>
#include <vector>

namespace engine::runtime {

// The rows [begin, begin + rows) that one prefill launch computes together.
struct Chunk {
  std::size_t begin;
  std::size_t rows;

  std::size_t end() const { return begin + rows; }
  bool operator==(const Chunk&) const = default;
};

// Cuts `tokens` positions into n = ceil(tokens / prompt_rows) chunks of ceil(tokens / n) rows, the
// last one shorter: the fewest launches, evenly filled. Zero tokens give no chunk. REQUIRES:
// prompt_rows >= 1.
std::vector<Chunk> length_sized_chunks(std::size_t tokens, std::size_t prompt_rows);

}  // namespace engine::runtime
