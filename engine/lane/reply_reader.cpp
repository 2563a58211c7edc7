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
    add_mark(served.format->lead, Event::kCallsBegin);
    add_mark(served.format->begin, Event::kCallBegin);
    add_mark(served.format->end, Event::kCallEnd);
    add_mark(served.format->trail, Event::kCallsEnd);
  }
  if (request.chat && served.thoughts) {
    add_mark(served.thoughts->begin, Event::kThoughtBegin);
    add_mark(served.thoughts->end, Event::kThoughtEnd);
  }
  const bool bare = request.tools && served.format->notation == ToolFormat::Notation::kLlama3;
  waits_ = bare || (request.chat && served.thoughts);
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
    case Event::kCallsBegin:
      return part_ == Part::kText;
    case Event::kCallBegin:
      return part_ != Part::kReasoning;
    case Event::kCallEnd:
      return part_ == Part::kCall;
    case Event::kCallsEnd:
      return part_ == Part::kCall || (part_ == Part::kText && calls_ > 0 && at_start_);
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
  // A token that the client named ends the message as the model's own does: it is no text.
  const std::vector<model::Token>& stops = request_.engine.params.stop_tokens;
  if (!ends && std::ranges::find(stops, token) != stops.end()) return delta;
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
    const Found next = find_sign(held_, [this](Event event) { return counts(event); });
    const std::string before(held_, 0, next.at);
    held_.erase(0, next.at + (next.sign == nullptr ? 0 : next.sign->text.size()));
    emit(before, delta);
    if (next.sign == nullptr) return;
    happen(*next.sign, delta);
  }
}

ReplyReader::Found ReplyReader::find_sign(std::string_view text,
                                          const std::function<bool(Event)>& wanted) const {
  Found earliest{nullptr, text.size()};
  std::size_t tail = 0;
  for (const Sign& sign : signs_) {
    if (sign.token || !wanted(sign.event)) continue;
    const std::size_t found = text.find(sign.text);
    if (found < earliest.at) earliest = {&sign, found};
    tail = std::max(tail, undecided(text, sign.text));
  }
  if (earliest.sign == nullptr) earliest.at -= tail;
  return earliest;
}

void ReplyReader::happen(const Sign& sign, ReplyDelta& delta) {
  const auto begin = [&](Part part) {
    part_ = part;
    pending_.clear();
    at_start_ = true;
  };
  switch (sign.event) {
    case Event::kStop:
      delta.text += std::exchange(pending_, {});
      held_.clear();
      stopped_ = true;
      break;
    case Event::kCallsBegin:
      pending_ += sign.text;
      break;
    case Event::kCallBegin:
      if (part_ == Part::kCall) end_whole_call(delta);
      if (stopped_) break;
      call_begin_ = pending_ + sign.text;
      begin(Part::kCall);
      break;
    case Event::kCallsEnd:
      if (part_ == Part::kCall) end_call(delta, sign.text);
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

// Line ends at the borders of thoughts and, in published notations, of calls are the template's; so
// are blanks before thoughts and before a call without a mark.
void ReplyReader::emit(std::string_view text, ReplyDelta& delta) {
  if (part_ == Part::kCall) return add_to_call(text, delta);
  const bool thoughts = part_ == Part::kReasoning;
  const bool trims = thoughts || reasoning_tokens_ > 0 || request_.tools;
  if (trims && at_start_ && (thoughts || reasoning_tokens_ > 0 || calls_ > 0))
    text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  if (text.empty()) return;
  at_start_ = false;
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  if (!thoughts && begins_bare_call(text.substr(begin))) {
    part_ = Part::kCall;
    bare_call_ = true;
    call_begin_ = std::exchange(pending_, {}) + std::string(text.substr(0, begin));
    return add_to_call(text.substr(begin), delta);
  }
  std::size_t end = trims ? text.find_last_not_of('\n') + 1 : text.size();
  if (begin == text.size() && !answered_ && !thoughts && waits_) end = 0;
  std::string& said = thoughts ? delta.reasoning : delta.text;
  if (end > 0) {
    said += std::exchange(pending_, {});
    said += text.substr(0, end);
    answered_ = answered_ || !thoughts;
  }
  pending_ += text.substr(end);
}

bool ReplyReader::begins_bare_call(std::string_view text) const {
  return request_.tools && !answered_ && text.starts_with('{') &&
         served_.format->may_be_bare_call(text, request_.tool_list);
}

void ReplyReader::add_to_call(std::string_view text, ReplyDelta& delta) {
  call_ += text;
  if (!bare_call_ || served_.format->may_be_bare_call(call_, request_.tool_list)) return;
  give_back(call_begin_ + std::exchange(call_, {}), delta);
}

// What was taken for a call and is none is text after all, which a stop text ends.
void ReplyReader::give_back(const std::string& text, ReplyDelta& delta) {
  part_ = Part::kText;
  bare_call_ = at_start_ = false;
  answered_ = true;
  const Found stop = find_sign(text, [](Event event) { return event == Event::kStop; });
  emit(text.substr(0, stop.at), delta);
  if (stop.sign != nullptr) return happen(*stop.sign, delta);
  held_.insert(0, text.substr(stop.at));
}

void ReplyReader::end_call(ReplyDelta& delta, std::string_view end_mark) {
  const std::string text = std::exchange(call_, {});
  // One of GLM's that was cut off would look whole, with arguments missing.
  const bool cut = end_mark.empty() && served_.format->notation == ToolFormat::Notation::kGlm;
  std::vector<ToolCall> calls;
  if (!cut) calls = served_.format->parse(text, request_.tool_list);
  const bool offered = std::ranges::all_of(
      calls, [&](const ToolCall& call) { return is_offered(request_.tool_list, call.name); });
  if (calls.empty() || !offered) {
    // The client sees what was written, and sends it back as it was.
    return give_back(call_begin_ + text + std::string(end_mark), delta);
  }
  part_ = Part::kText;
  bare_call_ = false;
  at_start_ = true;
  for (ToolCall& call : calls) {
    if (stopped_) break;
    call.id = new_call_id_();
    delta.calls.push_back(std::move(call));
    ++calls_;
    stopped_ = request_.one_call;
  }
  answered_ = true;
}

// Nothing goes on with what it may give back.
void ReplyReader::end_whole_call(ReplyDelta& delta) {
  const std::string after = std::exchange(held_, {});
  end_call(delta, "");
  emit(std::exchange(held_, {}), delta);
  if (!stopped_) held_ = after;
}

ReplyDelta ReplyReader::finish() {
  ReplyDelta delta;
  if (stopped_) return delta;
  add_text(decoder_.finish(), delta);
  if (stopped_) return delta;
  emit(std::exchange(held_, {}), delta);
  if (part_ == Part::kCall) end_whole_call(delta);
  if (part_ == Part::kText && calls_ == 0) delta.text += std::exchange(pending_, {});
  return delta;
}

}  // namespace engine::lane
