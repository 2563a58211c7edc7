#include "runtime/generate.h"

#include <algorithm>

#include "runtime/forward.h"
#include "runtime/prefill.h"
#include "runtime/stopwatch.h"

namespace engine::runtime {
namespace {

using kernels::Token;

// The decode part of one request.
class Decoding {
 public:
  Decoding(Lane& lane, std::size_t prompt_tokens, const GenerateParams& params,
           const Callbacks& callbacks, Reply& reply)
      : lane_(lane),
        prompt_tokens_(prompt_tokens),
        params_(params),
        callbacks_(callbacks),
        reply_(reply) {}

  void run() {
    if (!take_first_token()) return;
    while (true) {
      if (callbacks_.is_cancelled()) return finish(FinishReason::kCancelled);
      if (position() == lane_.state.shape().context) return finish(FinishReason::kContext);
      if (!take_round()) return;
    }
  }

 private:
  // Position of the last token, whose row is not in the buffer yet.
  std::size_t position() const { return prompt_tokens_ + reply_.tokens.size() - 1; }

  void finish(FinishReason reason) { reply_.finish = reason; }

  // From the prompt's last row. False: the reply is complete.
  bool take_first_token() {
    compute_logits(lane_.network, lane_.state, 0, 1);
    const Choice first =
        choose_tokens(lane_.network.backend(), lane_.state.scratch().logits, 1,
                      lane_.network.config().vocabulary, prompt_tokens_, params_.sampling)
            .front();
    followed_ = lane_.state.hidden(0);
    return take(std::span(&first.token, 1));
  }

  // One launch: drafts, verifies, takes what was accepted. False: the reply is complete.
  bool take_round() {
    const std::vector<Token> drafts = draft();
    const Verified verified = verify_drafts(lane_, reply_.tokens, drafts, position(),
                                            params_.sampling, params_.acceptance);
    reply_.stats.drafted += drafts.size();
    reply_.stats.accepted += verified.accepted;
    followed_ = lane_.state.hidden(1);
    return take(verified.tokens);
  }

  // The drafter sees the tokens of the latest round with the hidden states before them.
  std::vector<Token> draft() {
    if (!lane_.drafter || params_.draft_tokens == 0) return {};
    const std::size_t room = lane_.state.shape().context - 1 - position();
    const std::size_t wanted = params_.max_tokens - reply_.tokens.size() - 1;
    const std::size_t count = std::min({params_.draft_tokens, room, wanted});
    lane_.drafter->follow(std::span(reply_.tokens).last(round_tokens_), followed_);
    return count == 0 ? std::vector<Token>{} : lane_.drafter->draft(count);
  }

  bool take(std::span<const Token> tokens) {
    round_tokens_ = tokens.size();
    for (std::size_t row = 0; row < tokens.size(); ++row) {
      reply_.tokens.push_back(tokens[row]);
      if (params_.keep_logits || callbacks_.on_logits) show_logits(row);
      if (callbacks_.on_token) callbacks_.on_token(tokens[row]);
      if (is_stop(tokens[row])) return finish(FinishReason::kStop), false;
      if (reply_.tokens.size() == params_.max_tokens) return finish(FinishReason::kLength), false;
    }
    return true;
  }

  bool is_stop(Token token) const {
    return std::find(params_.stop_tokens.begin(), params_.stop_tokens.end(), token) !=
           params_.stop_tokens.end();
  }

  void show_logits(std::size_t row) {
    logits_.resize(lane_.network.config().vocabulary);
    lane_.network.backend().download(logits_.data(),
                                     lane_.state.scratch().logits + row * logits_.size(),
                                     logits_.size() * sizeof(float));
    if (params_.keep_logits) reply_.logits.push_back(logits_);
    if (callbacks_.on_logits) callbacks_.on_logits(logits_);
  }

  Lane& lane_;
  std::size_t prompt_tokens_;
  const GenerateParams& params_;
  const Callbacks& callbacks_;
  Reply& reply_;
  std::size_t round_tokens_ = 0;     // tokens taken in the latest round
  const float* followed_ = nullptr;  // hidden states before them, [round_tokens_, H]
  std::vector<float> logits_;        // of the token that is taken, [V]
};

}  // namespace

Reply generate(Lane& lane, std::span<const Token> prompt, const GenerateParams& params,
               const Callbacks& callbacks) {
  Reply reply;
  reply.stats.prompt_tokens = prompt.size();
  const Stopwatch prefilling;
  const std::size_t complete = prefill(lane, prompt, callbacks, reply.stats);
  reply.stats.prefill_seconds = prefilling.seconds();
  if (complete < prompt.size()) return reply;
  if (params.max_tokens == 0) {
    reply.finish = FinishReason::kLength;
    return reply;
  }
  const Stopwatch decoding;
  Decoding(lane, prompt.size(), params, callbacks, reply).run();
  reply.stats.decode_seconds = decoding.seconds();
  reply.stats.generated_tokens = reply.tokens.size();
  return reply;
}

}  // namespace engine::runtime
