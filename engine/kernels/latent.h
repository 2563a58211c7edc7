// What the operations of latent and sparse attention take. The definitions are in numerics/latent.h
// and numerics/index.h.
//
// Letters:  Q heads   C latent size   B rotated and W unrotated part of a head's query
//           U value size   L rank of the queries   J index heads   F index size
//           S how many positions a row attends to at most
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention_args.h"
#include "numerics/latent.h"

namespace engine::kernels {

// Every size is a multiple of 16.
struct LatentShape {
  std::size_t heads;      // Q
  std::size_t rank;       // L; 0: queries are projected from the layer's input
  std::size_t latent;     // C
  std::size_t rotated;    // B
  std::size_t unrotated;  // W

  constexpr std::size_t key() const { return latent + rotated; }       // C + B
  constexpr std::size_t query() const { return unrotated + rotated; }  // W + B
};

// REQUIRES: size is a multiple of 16 and not below B.
struct IndexShape {
  std::size_t heads = 0;  // J; 0: there is no indexer, and F is 0 as well
  std::size_t size = 0;   // F
  std::size_t most = 0;   // S
};

// What one layer keeps. Position p lives in slot p mod `slots`.
struct LatentRows {
  bf16* latents;      // [slots, C + B]
  bf16* index_keys;   // [slots, F]; null: no indexer runs here
  std::size_t slots;  // rows that each buffer holds
};

// The table rotates B dimensions: the last B of a query, all of a rotated key, the first B of an
// index query or key. REQUIRES: holds positions [position, position + R).
struct LatentRotary {
  RotaryTable table;
  bool index_interleaved;  // pairs of the indexer: as RotaryTable::interleaved
  std::size_t position;    // of row 0
};

struct WriteLatentArgs {
  const float* projected;  // [R, L + C + B + F + J], F = J = 0 without an indexer
  Norm query_norm;         // [L]; REQUIRES: kRms
  Norm latent_norm;        // [C]; REQUIRES: kRms
  Norm index_norm;         // [F]; REQUIRES: kLayer
  LatentRotary rotary;
};

// Of one launch; null where there is no such part.
struct LowQueries {
  bf16* query;           // [R, L]
  float* index_weights;  // [R, J]
};

struct LatentQueriesArgs {
  const float* projected;  // [R, Q (W + B) + J F]: the heads', then the indexer's
  LatentRotary rotary;
};

struct LatentQueries {
  bf16* unrotated;  // [R, Q, W]
  bf16* query;      // [R, Q, C + B]: the last B of each head are written
  bf16* index;      // [R, J, F]; null without an indexer
};

// `choose` takes so many rows at a time, so that its scores need no more memory.
inline constexpr std::size_t kIndexRows = 64;

struct ChooseArgs {
  const bf16* query;     // [R, J, F]
  const float* weights;  // [R, J]
  float* scores;         // scratch [min(R, kIndexRows), slots]
  std::size_t position;  // of row 0
};

struct LatentAttentionArgs {
  const bf16* query;     // [R, Q, C + B]
  std::size_t position;  // of row 0
  std::size_t first;     // as AttentionArgs has them; REQUIRES with `chosen`: 0 and the whole
  std::size_t window;    // context
  Phase phase;
  numerics::ScoreMap scores;
  // The positions that row r attends to: chosen_count(position + r, most) of [R, most], ascending.
  // Null: all that `first` and `window` leave.
  const std::int32_t* chosen;
  std::size_t most;  // S
};

}  // namespace engine::kernels
