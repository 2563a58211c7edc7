// What the operations around attention take: norms, rotary tables, kept rows. Letters as in ops.h.
#pragma once

#include <cstddef>

#include "numerics/attention.h"
#include "numerics/bf16.h"
#include "numerics/norm.h"

namespace engine::kernels {

using numerics::bf16;

// Which of the two attention orders a launch uses (numerics/attention.h). Not derived from R: a
// one-row prefill remainder must give prefill bits.
enum class Phase { kPrefill, kDecode };

// K and V of one layer. Position p lives in slot p mod `slots`, so a whole-context buffer and the
// drafter's ring are one thing.
struct KvRows {
  bf16* k;            // [slots, G, D]
  bf16* v;            // [slots, G, D]
  std::size_t slots;  // rows that the buffer holds
};

struct HeadShape {
  std::size_t query_heads;  // Q
  std::size_t kv_heads;     // G, divides Q
  std::size_t head_size;    // D, a multiple of 16
};

// A norm of rows of n elements, in the order of numerics/norm.h.
struct Norm {
  const bf16* weight;  // [n]; null with kNone
  const bf16* bias;    // [n]; null unless kLayer
  numerics::NormKind kind;
  float epsilon;
};

inline constexpr Norm kNoNorm{nullptr, nullptr, numerics::NormKind::kNone, 0.0f};

// Rotary tables over the first `rotary_size` dimensions of a head: dimension i of the first half is
// rotated with dimension i + rotary_size/2 by position p's angle i; interleaved, dimension 2i with
// 2i + 1. Size 0: nothing is rotated.
struct RotaryTable {
  const float* cosine;  // [positions, rotary_size/2]
  const float* sine;    // [positions, rotary_size/2]
  std::size_t rotary_size;
  bool interleaved;
};

struct QkvArgs {
  const float* qkv;      // [R, (Q + 2G) D]: queries, keys, values
  Norm q_norm, k_norm;   // REQUIRES: kNone, kRms or kRmsPlusOne
  bool whole_width;      // the norms are of all heads' Q D and G D elements, not of each head's D
  RotaryTable rotary;    // REQUIRES: holds positions [position, position + R)
  std::size_t position;  // of row 0
};

// A window that holds every position.
inline constexpr std::size_t kWholeContext = static_cast<std::size_t>(-1);

struct AttentionArgs {
  const bf16* query;  // [R, Q, D]
  std::size_t
      position;       // of row 0; row r sees keys [max(first, p + 1 - window), p], p = position + r
  std::size_t first;  // no key before this position is read
  std::size_t window;  // REQUIRES: >= 1; window + R - 1 <= slots, or positions never wrap
  Phase phase;
  numerics::ScoreMap scores;  // of q k^T before the softmax
};

}  // namespace engine::kernels
