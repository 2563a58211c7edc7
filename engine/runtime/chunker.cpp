#include "runtime/chunker.h"

#include <algorithm>

namespace engine::runtime {
namespace {

std::size_t ceil_divide(std::size_t value, std::size_t by) {
  return value / by + (value % by != 0);
}

// Chunks of `step` rows over [0, tokens), then one remainder.
std::vector<Chunk> chunks_of(std::size_t step, std::size_t tokens) {
  std::vector<Chunk> chunks;
  for (std::size_t begin = 0; begin < tokens; begin += step) {
    chunks.push_back({begin, std::min(step, tokens - begin)});
  }
  return chunks;
}

}  // namespace

std::vector<Chunk> length_sized_chunks(std::size_t tokens, std::size_t prompt_rows) {
  if (tokens == 0) return {};
  const std::size_t count = ceil_divide(tokens, prompt_rows);
  return chunks_of(ceil_divide(tokens, count), tokens);
}

}  // namespace engine::runtime
