// Proposes tokens with the model's multi-token-prediction layer.
//
// Row p is made from the target's hidden state p and token p + 1, and predicts token p + 2. The
// layer has KV rows of its own in a ring: slot = p mod ring rows. It attends to the last
// `mtp_window` of them.
//
// Goals: under strict acceptance nothing here can change a reply; no row of another text, and none
// at a wrong position, is ever read. Not a goal: equal drafts whatever the history. A ring that
// restarts predicts from less context.
#pragma once

#include <span>
#include <vector>

#include "runtime/chunker.h"
#include "runtime/network.h"
#include "runtime/state.h"

namespace engine::runtime {

class Drafter {
 public:
  // REQUIRES: network.mtp; state has a ring of at least smallest_ring() rows. Both outlive the
  // drafter.
  Drafter(const Network& network, State& state);

  // Ring rows below which a launch would overwrite rows that it still reads.
  static std::size_t smallest_ring(const model::ModelConfig& config, std::size_t prompt_rows);

  // Forgets every row; the next one is row 0.
  void restart();

  // Writes the rows that a prefill chunk completes: those up to chunk.end() - 2, whose next token
  // the prompt holds. REQUIRES: the chunk's hidden states are in state.hidden(1...), its
  // predecessor's last in state.hidden(0); the last row written is the one before those.
  void follow_chunk(std::span<const kernels::Token> prompt, const Chunk& chunk);

  // Writes one row for each token of `next`, from the target's hidden states at `hidden` [rows, H];
  // next[i] is the token after hidden state i. REQUIRES: 1 <= rows <= kMaxDecodeRows.
  void follow(std::span<const kernels::Token> next, const float* hidden);

  // The `count` likeliest tokens after the last one followed, each drafted from the one before.
  // Their rows are tentative: the next follow() overwrites them. REQUIRES: follow() came last;
  // count >= 1.
  std::vector<kernels::Token> draft(std::size_t count);

  // Rows [begin, end) of the current text are in the ring.
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }

 private:
  void run_rows(std::span<const kernels::Token> next, const float* hidden, std::size_t position,
                kernels::Phase phase);
  kernels::Token predict(const float* draft_hidden);

  const Network& network_;
  State& state_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t last_rows_ = 0;  // rows of the latest follow(), still in scratch
};

}  // namespace engine::runtime
