#include "runtime/drafter.h"

#include <algorithm>

#include "runtime/forward.h"

namespace engine::runtime {

using kernels::Phase;
using kernels::Token;

Drafter::Drafter(const Network& network, State& state) : network_(network), state_(state) {}

std::size_t Drafter::smallest_ring(const model::ModelConfig& config, std::size_t prompt_rows) {
  return config.mtp_window + std::max(prompt_rows, kMaxDecodeRows);
}

void Drafter::restart() {
  begin_ = 0;
  end_ = 0;
}

void Drafter::follow_chunk(std::span<const Token> prompt, const Chunk& chunk) {
  const std::size_t rows = chunk.end() - 1 - end_;
  if (rows == 0) return;
  run_rows(prompt.subspan(end_ + 1, rows), state_.hidden(1 + end_ - chunk.begin), end_,
           Phase::kPrefill);
  end_ += rows;
}

void Drafter::follow(std::span<const Token> next, const float* hidden) {
  run_rows(next, hidden, end_, Phase::kDecode);
  end_ += next.size();
  last_rows_ = next.size();
}

std::vector<Token> Drafter::draft(std::size_t count) {
  std::vector<Token> drafts;
  const float* hidden = state_.scratch().draft_hidden + (last_rows_ - 1) * network_.config().hidden;
  for (;;) {
    drafts.push_back(predict(hidden));
    if (drafts.size() == count) return drafts;
    // The layer's own output stands in for the hidden state that the target has not computed yet.
    run_rows({&drafts.back(), 1}, hidden, end_ + drafts.size() - 1, Phase::kDecode);
    hidden = state_.scratch().draft_hidden;
  }
}

void Drafter::run_rows(std::span<const Token> next, const float* hidden, std::size_t position,
                       Phase phase) {
  const State::Scratch& s = state_.scratch();
  const MtpLayer& mtp = *network_.mtp;
  const std::size_t h = network_.config().hidden;
  kernels::Backend& backend = network_.backend();
  // The hidden norm comes first: `hidden` may be a row of draft_hidden, which embed overwrites.
  backend.norm(s.draft_pair + h, 2 * h, hidden, mtp.hidden_norm, next.size(), h);
  backend.embed(s.draft_hidden, mtp.embedding, next, h, network_.config().embedding_scale);
  backend.norm(s.draft_pair, 2 * h, s.draft_hidden, mtp.token_norm, next.size(), h);
  backend.matmul(s.draft_hidden, s.draft_pair, *mtp.combine, nullptr, next.size(), false);
  // Rows that this launch overwrites are gone from here on, also if it fails halfway.
  const std::size_t written = position + next.size();
  const std::size_t ring = state_.shape().ring_rows;
  if (written > ring) begin_ = std::max(begin_, written - ring);
  const LaunchRows launch{
      .rows = next.size(), .position = position, .first = begin_, .phase = phase};
  decoder_layer(network_, state_, mtp.layer, state_.ring(), s.draft_hidden, launch);
}

Token Drafter::predict(const float* draft_hidden) {
  const State::Scratch& s = state_.scratch();
  const model::ModelConfig& c = network_.config();
  const MtpLayer& mtp = *network_.mtp;
  const kernels::Matrix& head = mtp.lm_head ? *mtp.lm_head : *network_.lm_head;
  network_.backend().norm(s.normed, c.hidden, draft_hidden, mtp.head_norm, 1, c.hidden);
  network_.backend().matmul(s.draft_logits, s.normed, head, nullptr, 1, false);
  kernels::Top2 top2{};
  network_.backend().top2({&top2, 1}, s.draft_logits, c.vocabulary);
  return top2.best;
}

}  // namespace engine::runtime
