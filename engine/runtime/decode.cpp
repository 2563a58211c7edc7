#include "runtime/decode.h"

#include "runtime/forward.h"

namespace engine::runtime {
namespace {

using kernels::Token;

bool accepts(Acceptance acceptance, Token draft, const Choice& choice) {
  if (draft == choice.token) return true;
  return acceptance == Acceptance::kTop2 &&
         (draft == choice.top2.best || draft == choice.top2.second);
}

}  // namespace

Verified verify_drafts(Lane& lane, std::span<const Token> reply, std::span<const Token> drafts,
                       std::size_t position, const SamplingParams& sampling,
                       Acceptance acceptance) {
  std::vector<Token> rows{reply.back()};
  rows.insert(rows.end(), drafts.begin(), drafts.end());
  std::vector<Token> text(reply.begin(), reply.end());
  text.insert(text.end(), drafts.begin(), drafts.end());
  forward(lane.network, lane.state, rows, position, kernels::Phase::kDecode);
  compute_logits(lane.network, lane.state, 1, rows.size());
  const std::vector<Choice> choices =
      choose_tokens(lane.network.backend(), lane.state.scratch().logits, rows.size(),
                    lane.network.config().vocabulary, position + 1, sampling, text);
  Verified verified{{}, 0};
  while (verified.accepted < drafts.size() &&
         accepts(acceptance, drafts[verified.accepted], choices[verified.accepted])) {
    verified.tokens.push_back(drafts[verified.accepted++]);
  }
  verified.tokens.push_back(choices[verified.accepted].token);
  return verified;
}

}  // namespace engine::runtime
