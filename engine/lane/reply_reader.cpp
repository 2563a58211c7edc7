#include "lane/reply_reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace engine::lane {
namespace {

// Where a text of `stops` first begins in `text`; npos if none does.
std::size_t find_stop(std::string_view text, std::span<const std::string> stops) {
  std::size_t first = std::string_view::npos;
  for (const std::string& stop : stops)
    first = std::min(first, text.find(stop));
  return first;
}

// Length of the longest end of `text` that a stop text begins with.
std::size_t undecided(std::string_view text, std::span<const std::string> stops) {
  std::size_t longest = 0;
  for (const std::string& stop : stops) {
    for (std::size_t n = std::min(stop.size() - 1, text.size()); n > longest; --n) {
      if (text.ends_with(std::string_view(stop).substr(0, n))) longest = n;
    }
  }
  return longest;
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
      decoder_(served.model.reply_decoder()),
      call_(request.begun_call) {}

bool ReplyReader::is_mark(model::Token token) const {
  return request_.tools && (token == served_.format->begin || token == served_.format->end);
}

ReplyDelta ReplyReader::push(model::Token token, std::span<const float> logits) {
  ReplyDelta delta;
  if (stopped_) return delta;
  ++tokens_;
  if (request_.top_logprobs)
    delta.logprobs.push_back(token_logprob(logits, token, *request_.top_logprobs));
  if (is_mark(token)) {
    push_mark(token, delta);
  } else {
    add_text(decoder_.push(token), delta);
  }
  return delta;
}

void ReplyReader::push_mark(model::Token token, ReplyDelta& delta) {
  add_text(decoder_.finish(), delta);
  const std::string_view mark = served_.model.tokenizer().decode(token);
  if (token == served_.format->begin) {
    end_call(delta, "");
    if (stopped_) return;
    delta.text += held_;
    held_.clear();
    call_.emplace();
  } else if (call_) {
    end_call(delta, mark);
  } else {
    add_text(mark, delta);
  }
}

void ReplyReader::add_text(std::string_view text, ReplyDelta& delta) {
  if (call_) {
    *call_ += text;
    return;
  }
  held_ += text;
  if (const std::size_t at = find_stop(held_, request_.stop); at != std::string::npos) {
    delta.text += held_.substr(0, at);
    held_.clear();
    stopped_ = true;
    return;
  }
  const std::size_t sure = held_.size() - undecided(held_, request_.stop);
  delta.text += held_.substr(0, sure);
  held_.erase(0, sure);
}

void ReplyReader::end_call(ReplyDelta& delta, std::string_view end_mark) {
  if (!call_) return;
  const std::string text = *std::exchange(call_, std::nullopt);
  std::optional<ToolCall> call = ToolFormat::parse(text);
  if (call) {
    call->id = new_call_id_();
    delta.calls.push_back(*std::move(call));
    ++calls_;
    stopped_ = request_.one_call;
  } else {
    // No call after all: the client sees what was written, and sends it back as it was.
    delta.text += served_.model.tokenizer().decode(served_.format->begin);
    delta.text += text;
    delta.text += end_mark;
  }
}

ReplyDelta ReplyReader::finish() {
  ReplyDelta delta;
  if (stopped_) return delta;
  add_text(decoder_.finish(), delta);
  delta.text += held_;
  held_.clear();
  end_call(delta, "");
  return delta;
}

}  // namespace engine::lane
