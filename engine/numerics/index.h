// Which positions a row of sparse attention attends to, as an indexer with a few narrow heads of
// its own chooses them.
//
// Letters: J index heads   F size of each   S how many positions are attended to at most
// Roundings, in order. x is the layer's normed input and q_r the normed low-rank query, both bf16.
//   keys     bf16(rotary(LayerNorm(x W_k)))   [F], kept for every position
//   queries  bf16(rotary(q_r W_q))            [J, F]
//   weights  (x W_w) * index_scale(J, F)      [J], float32: one more rounding
//   score    of a row and a key: dot_j = fused chain over F from +0 of query j and the key, then
//            sum = fma(weight_j, relu(dot_j), sum) from +0 over the heads in ascending order
//   choice   the S largest scores of the positions up to the row's own; of equal ones the lower
//            position. A set, written in ascending order. Where there are no more than S positions
//            it is all of them, whatever the scores are.
// relu makes plateaus of exact zeros, so ties at the threshold are common. A NaN is the largest, as
// torch.topk has it: what must not be read shows.
//
// Source: DeepSeek-V3.2-Exp, "Boosting Long-Context Efficiency with DeepSeek Sparse Attention",
// 2025.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numerics/fused16.h"
#include "numerics/router.h"

namespace engine::numerics {

// 1 / sqrt(J F): of the heads' mean deviation and of the dot products.
inline float index_scale(std::size_t heads, std::size_t size) {
  return 1.0f / std::sqrt(static_cast<float>(heads * size));
}

ENGINE_HD inline float relu(float x) {
  return x < 0.0f ? 0.0f : x;  // a NaN stays
}

// Larger is better; -0 equals +0; 0 is no key.
ENGINE_HD inline std::uint32_t index_key(float score) {
  return score != score ? 0xffffffffu : choice_key(score);
}

// query [J, F], key [F], weights [J].
inline float index_score(const bf16* query, const bf16* key, const float* weights,
                         std::size_t heads, std::size_t size) {
  float sum = 0.0f;
  for (std::size_t j = 0; j < heads; ++j)
    sum = fma(weights[j], relu(fused_chain(0.0f, query + j * size, key, size)), sum);
  return sum;
}

// The row at position `count` - 1, whose scores are [count]: writes min(count, most) positions.
inline void choose_positions(std::int32_t* chosen, const float* scores, std::size_t count,
                             std::size_t most) {
  if (count <= most) {
    for (std::size_t s = 0; s < count; ++s)
      chosen[s] = static_cast<std::int32_t>(s);
    return;
  }
  std::vector<std::uint64_t> ranks(count);
  for (std::size_t s = 0; s < count; ++s)
    ranks[s] = choice_rank(index_key(scores[s]), static_cast<std::uint32_t>(s));
  const auto last = ranks.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(ranks.begin(), last, ranks.end(), std::greater<>());
  for (auto rank = ranks.begin(); rank != last; ++rank)
    *chosen++ = static_cast<std::int32_t>(ranked_id(*rank));
  std::sort(chosen - most, chosen);
}

}  // namespace engine::numerics
