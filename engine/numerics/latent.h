// Latent attention in its absorbed form: all heads share one key and one value of a position, both
// out of the row that is kept of it.
//
// Letters: Q heads   C latent size   B rotated and W unrotated part of a head's query   U value
// size Roundings, in order. x is the layer's normed input, in bf16.
//   projected    x * down^T as any matrix product, float32: (q | c | k_r), and the indexer's
//   q_r          bf16(RMSNorm(q))
//   kept row     (bf16(RMSNorm(c)) [C], bf16(rotary(k_r)) [B])
//   queries      q_r * queries^T, or x * queries^T without a low rank, float32: a head's (W | B)
//   unrotated    bf16 of the first W of each head
//   query        a head's (bf16(unrotated * absorb_h^T) [C], bf16(rotary(the last B)) [B]), where
//                absorb_h [C, W] is the head's share of the key projection, transposed
//   attention    attention.h, in either order: D = C + B, and a key's first C elements are its
//                value; out [Q, C] in bf16
//   output       bf16(out_h * expand_h^T) [U], where expand_h [U, C] is the head's share of the
//                value projection; then the output projection as any matrix product
// A product of a head's own matrix (absorb, expand) is one fused chain from +0 over all of its
// inner length, whatever the number of rows: the heads fill the card.
//
// Over a set of positions (index.h) attention.h holds with the set's i-th position, ascending, in
// the place of position i: tiles are of 64 and segments of 256 positions of the set. Where the set
// is everything, so are the bits.
//
// Prefill and decode share all of this but the order of attention. Source: DeepSeek-V2 (arXiv
// 2405.04434, 2.1 and appendix C).
#pragma once

#include "numerics/attention.h"

namespace engine::numerics {

// Positions that the row at position p attends to, out of a set of at most `most`.
ENGINE_HD constexpr std::size_t chosen_count(std::size_t p, std::size_t most) {
  return p + 1 < most ? p + 1 : most;
}

}  // namespace engine::numerics
