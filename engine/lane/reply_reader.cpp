#include "lane/reply_reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace engine::lane {
namespace {

// Length of the longest end of `text` that `sign` begins with, but for all of it.
std::size_t undecided(std::string_view text, std::string_view sign) {
  std::size_t n = std::min(sign.size() - 1, text.size());
  while (!text.ends_with(sign.substr(0, n)))
    --n;
  return n;
}

// Whether a call is of one of the request's tools.
bool is_offered(const nlohmann::ordered_json& tools, const std::string& name) {
  return std::ranges::any_of(tools, [&](const nlohmann::ordered_json& tool) {
    return tool.at("function").at("name") == name;
  });
}

}  // namespace

TokenLogprob token_logprob(std::span<const float> logits, model::Token token, std::size_t top) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits)
    sum += std::exp(logit - largest);
  const double log_sum = largest + std::log(sum);
  std::vector<model::Token> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto likelier = [&](model::Token a, model::Token b) {
    const float left = logits[static_cast<std::size_t>(a)],
                right = logits[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  };
  const auto kept = order.begin() + static_cast<std::ptrdiff_t>(std::min(top, order.size()));
  std::partial_sort(order.begin(), kept, order.end(), likelier);
  TokenLogprob result{token, logits[static_cast<std::size_t>(token)] - log_sum, {}};
  for (auto it = order.begin(); it != kept; ++it)
    result.top.emplace_back(*it, logits[static_cast<std::size_t>(*it)] - log_sum);
  return result;
}

ReplyReader::ReplyReader(const Served& served, const GenerationRequest& request,
                         std::function<std::string()> new_call_id)
    : served_(served),
      request_(request),
      new_call_id_(std::move(new_call_id)),
      decoder_(served.model.reply_decoder()) {
  for (const std::string& stop : request.stop)
    signs_.push_back({stop, Event::kStop, std::nullopt});
  if (request.tools) {
    add_mark(served.format->begin, Event::kCallBegin);
    add_mark(served.format->end, Event::kCallEnd);
  }
  if (request.chat && served.thoughts) {
    add_mark(served.thoughts->begin, Event::kThoughtBegin);
    add_mark(served.thoughts->end, Event::kThoughtEnd);
  }
  if (request.thinking) part_ = Part::kReasoning;
  if (!request.begun_call) return;
  part_ = Part::kCall;
  call_begin_ = served.format->begin;
  call_ = *request.begun_call;
}

void ReplyReader::add_mark(const std::string& text, Event event) {
  if (!text.empty()) signs_.push_back({text, event, served_.model.tokenizer().find(text)});
}

// Whether such a sign is looked for where the reply is now.
bool ReplyReader::counts(Event event) const {
  switch (event) {
    case Event::kStop:
      return part_ == Part::kText;
    case Event::kCallBegin:
      return part_ != Part::kReasoning;
    case Event::kCallEnd:
      return part_ == Part::kCall;
    case Event::kThoughtBegin:
      return part_ == Part::kText && !answered_;
    case Event::kThoughtEnd:
      return part_ == Part::kReasoning;
  }
  return false;
}

ReplyDelta ReplyReader::push(model::Token token, std::span<const float> logits) {
  ReplyDelta delta;
  if (stopped_) return delta;
  ++tokens_;
  if (part_ == Part::kReasoning) ++reasoning_tokens_;
  if (request_.top_logprobs)
    delta.logprobs.push_back(token_logprob(logits, token, *request_.top_logprobs));
  const auto mark = std::ranges::find(signs_, std::optional(token), &Sign::token);
  const model::Tokenizer& tokenizer = served_.model.tokenizer();
  // Inside of a call special tokens are part of its notation, but for the one that ends the
  // message.
  const bool ends = std::ranges::binary_search(served_.model.config().stop_tokens, token);
  const bool notation = part_ == Part::kCall && tokenizer.is_special(token) && !ends;
  if (mark == signs_.end() && !notation) {
    add_text(decoder_.push(token), delta);
    return delta;
  }
  add_text(decoder_.finish(), delta);
  if (stopped_) return delta;
  emit(std::exchange(held_, {}), delta);
  if (mark != signs_.end() && counts(mark->event)) {
    happen(*mark, delta);
  } else {
    emit(tokenizer.decode(token), delta);
  }
  return delta;
}

void ReplyReader::add_text(std::string_view text, ReplyDelta& delta) {
  held_ += text;
  while (!stopped_) {
    const Sign* next = nullptr;
    std::size_t at = held_.size();
    std::size_t tail = 0;
    for (const Sign& sign : signs_) {
      if (sign.token || !counts(sign.event)) continue;
      const std::size_t found = held_.find(sign.text);
      if (found < at) {
        at = found;
        next = &sign;
      }
      tail = std::max(tail, undecided(held_, sign.text));
    }
    if (next == nullptr) at -= tail;
    emit(std::string(held_, 0, at), delta);
    held_.erase(0, at + (next == nullptr ? 0 : next->text.size()));
    if (next == nullptr) return;
    happen(*next, delta);
  }
}

void ReplyReader::happen(const Sign& sign, ReplyDelta& delta) {
  const auto begin = [&](Part part) {
    part_ = part;
    line_ends_.clear();
    at_start_ = true;
  };
  switch (sign.event) {
    case Event::kStop:
      delta.text += std::exchange(line_ends_, {});
      held_.clear();
      stopped_ = true;
      break;
    case Event::kCallBegin:
      if (part_ == Part::kCall) end_call(delta, "");
      if (stopped_) break;
      begin(Part::kCall);
      call_begin_ = sign.text;
      break;
    case Event::kCallEnd:
      end_call(delta, sign.text);
      break;
    case Event::kThoughtBegin:
      begin(Part::kReasoning);
      break;
    case Event::kThoughtEnd:
      begin(Part::kText);
      break;
  }
}

// Line ends at the borders of thoughts and, in published notations, of calls are the template's.
void ReplyReader::emit(std::string_view text, ReplyDelta& delta) {
  if (part_ == Part::kCall) {
    call_ += text;
    return;
  }
  const bool thoughts = part_ == Part::kReasoning;
  const bool trims = thoughts || reasoning_tokens_ > 0 || request_.tools;
  if (trims && at_start_ && (thoughts || reasoning_tokens_ > 0 || calls_ > 0))
    text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  if (text.empty()) return;
  at_start_ = false;
  const bool bare = !answered_ && !thoughts && request_.tools &&
                    served_.format->notation == ToolFormat::Notation::kLlama3;
  if (bare && text.find_first_not_of(" \n") != std::string_view::npos &&
      text[text.find_first_not_of(" \n")] == '{') {
    part_ = Part::kCall;
    call_begin_.clear();
    call_ = text;
    return;
  }
  const std::size_t end = trims ? text.find_last_not_of('\n') + 1 : text.size();
  std::string& said = thoughts ? delta.reasoning : delta.text;
  if (end > 0) {
    said += std::exchange(line_ends_, {});
    said += text.substr(0, end);
    answered_ = answered_ || !thoughts;
  }
  line_ends_ += text.substr(end);
}

void ReplyReader::end_call(ReplyDelta& delta, std::string_view end_mark) {
  const std::string text = std::exchange(call_, {});
  part_ = Part::kText;
  at_start_ = true;
  // One of GLM's that was cut off would look whole, with arguments missing.
  const bool cut = end_mark.empty() && served_.format->notation == ToolFormat::Notation::kGlm;
  std::vector<ToolCall> calls;
  if (!cut) calls = served_.format->parse(text, request_.tool_list);
  const bool offered = std::ranges::all_of(
      calls, [&](const ToolCall& call) { return is_offered(request_.tool_list, call.name); });
  if (calls.empty() || !offered) {
    calls.clear();
    // No call after all: the client sees what was written, and sends it back as it was.
    delta.text += call_begin_;
    delta.text += text;
    delta.text += end_mark;
    at_start_ = false;
  }
  for (ToolCall& call : calls) {
    if (stopped_) break;
    call.id = new_call_id_();
    delta.calls.push_back(std::move(call));
    ++calls_;
    stopped_ = request_.one_call;
  }
  answered_ = true;
}

ReplyDelta ReplyReader::finish() {
  ReplyDelta delta;
  if (stopped_) return delta;
  add_text(decoder_.finish(), delta);
  if (stopped_) return delta;
  emit(std::exchange(held_, {}), delta);
  if (part_ == Part::kCall) end_call(delta, "");
  if (part_ == Part::kText && calls_ == 0) delta.text += std::exchange(line_ends_, {});
  return delta;
}

}  // namespace engine::lane
