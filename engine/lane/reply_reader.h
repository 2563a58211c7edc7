// Turns the tokens of a reply into what the client sees: thoughts, text, tool calls and
// log-probabilities, as they come.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lane/request.h"
#include "model/stream_decoder.h"

namespace engine::lane {

// One token and the likeliest ones in its place, by natural logarithm.
struct TokenLogprob {
  model::Token token = 0;
  double logprob = 0;                                // NaN: nothing comes before the token
  std::vector<std::pair<model::Token, double>> top;  // falling; ties by rising id
};

// Of the token that was chosen from these logits [V].
TokenLogprob token_logprob(std::span<const float> logits, model::Token token, std::size_t top);

// What a token, or the end, adds to the reply.
struct ReplyDelta {
  std::string reasoning;  // what the model thinks before it answers
  std::string text;
  std::vector<ToolCall> calls;
  std::vector<TokenLogprob> logprobs;

  bool empty() const {
    return reasoning.empty() && text.empty() && calls.empty() && logprobs.empty();
  }
};

class ReplyReader {
 public:
  // `served` and `request` must outlive it. `new_call_id` names each call.
  ReplyReader(const Served& served, const GenerationRequest& request,
              std::function<std::string()> new_call_id);

  // `logits` [V] may be empty if the request wants no log-probabilities. After `stopped` tokens
  // change nothing.
  ReplyDelta push(model::Token token, std::span<const float> logits);
  // What was held back.
  ReplyDelta finish();

  // A stop text was found, and the reply ends before it; or the one call that it may hold is there.
  bool stopped() const { return stopped_; }
  bool has_calls() const { return calls_ > 0; }
  std::size_t tokens() const { return tokens_; }  // up to the stop
  std::size_t reasoning_tokens() const { return reasoning_tokens_; }

 private:
  enum class Part { kReasoning, kText, kCall };
  enum class Event {
    kStop,
    kCallsBegin,
    kCallBegin,
    kCallEnd,
    kCallsEnd,
    kThoughtBegin,
    kThoughtEnd
  };
  // A text that means something: a stop text, or a mark. A mark that is a token counts as a token
  // only, so that a model may quote it.
  struct Sign {
    std::string text;
    Event event;
    std::optional<model::Token> token;
  };

  // The earliest sign of a text, or else where one may begin.
  struct Found {
    const Sign* sign = nullptr;
    std::size_t at = 0;
  };

  void add_mark(const std::string& text, Event event);
  bool counts(Event event) const;
  Found find_sign(std::string_view text, const std::function<bool(Event)>& wanted) const;
  void add_text(std::string_view text, ReplyDelta& delta);
  void happen(const Sign& sign, ReplyDelta& delta);
  void emit(std::string_view text, ReplyDelta& delta);
  bool begins_bare_call(std::string_view text) const;
  void add_to_call(std::string_view text, ReplyDelta& delta);
  void give_back(const std::string& text, ReplyDelta& delta);
  void end_call(ReplyDelta& delta, std::string_view end_mark);
  void end_whole_call(ReplyDelta& delta);

  const Served& served_;
  const GenerationRequest& request_;
  std::function<std::string()> new_call_id_;
  model::StreamDecoder decoder_;
  std::vector<Sign> signs_;
  Part part_ = Part::kText;
  std::string held_;        // text that may be the beginning of a sign
  std::string pending_;     // blanks and outer marks, which are text only if text follows
  bool at_start_ = true;    // of the part: line ends are not of it
  bool waits_ = false;      // blanks that a reply begins with are not told before more comes
  bool answered_ = false;   // something but thoughts was said
  std::string call_;        // the text of the call being written
  std::string call_begin_;  // its mark and what was pending before, as they were written
  bool bare_call_ = false;  // it has no mark, and may turn out to be none
  std::size_t calls_ = 0, tokens_ = 0, reasoning_tokens_ = 0;
  bool stopped_ = false;
};

}  // namespace engine::lane
