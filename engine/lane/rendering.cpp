#include "lane/rendering.h"

#include <algorithm>

namespace engine::lane {
namespace {

// Whether `now` says what was said before, and then more or the same.
bool goes_on(const model::Conversation& before, const model::Conversation& now) {
  return before.tools == now.tools && before.variables == now.variables &&
         before.documents == now.documents && before.messages.size() <= now.messages.size() &&
         std::ranges::equal(before.messages, std::span(now.messages).first(before.messages.size()));
}

}  // namespace

std::optional<Departure> LastRendering::compare(const GenerationRequest& request) const {
  const std::vector<model::Token>& prompt = request.engine.prompt;
  const auto [left, unused] = std::ranges::mismatch(tokens_, prompt);
  const auto kept = static_cast<std::size_t>(left - tokens_.begin());
  // A reply's last token may be the stop, which not every template writes.
  if (kept + 1 >= tokens_.size() || kept == prompt.size()) return std::nullopt;
  if (!goes_on(conversation_, request.conversation)) return Departure{kept, "messages"};
  return Departure{kept, kept < prompt_ ? "template" : "reply"};
}

void LastRendering::keep(const GenerationRequest& request, std::span<const model::Token> reply) {
  conversation_ = request.conversation;
  tokens_ = request.engine.prompt;
  prompt_ = tokens_.size();
  tokens_.insert(tokens_.end(), reply.begin(), reply.end());
}

}  // namespace engine::lane
