#include "lane/constraint.h"

#include <algorithm>
#include <limits>
#include <set>

namespace engine::lane {
namespace {

constexpr std::size_t kMostMasks = 256;

}  // namespace

Vocabulary vocabulary_of(const model::Tokenizer& tokenizer) {
  const std::vector<std::string> list = tokenizer.marks();
  const std::set<std::string, std::less<>> marks(list.begin(), list.end());
  Vocabulary vocabulary;
  for (std::size_t id = 0; id < tokenizer.size(); ++id) {
    const auto token = static_cast<model::Token>(id);
    const std::string_view text = tokenizer.decode(token);
    if (!text.empty() && !tokenizer.is_special(token) && !marks.contains(text))
      vocabulary.emplace_back(text, token);
  }
  std::ranges::sort(vocabulary);
  return vocabulary;
}

Constraint::Constraint(Grammar grammar, Grammar::Rule root, const Vocabulary& vocabulary,
                       std::vector<model::Token> marks, std::vector<model::Token> stops)
    : grammar_(std::move(grammar)),
      vocabulary_(vocabulary),
      marks_(std::move(marks)),
      stops_(std::move(stops)) {
  for (const auto& [text, token] : vocabulary_)
    texts_.emplace(token, &text);
  states_.push_back(grammar_.begin(root));
}

void Constraint::apply(std::span<const model::Token> reply, std::span<float> logits) {
  const Grammar::State& state = state_after(reply);
  if (grammar_.allows_anything(state)) return;
  const std::vector<bool>& allowed = allowed_in(state, logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (!allowed[i]) logits[i] = -std::numeric_limits<float>::infinity();
}

const Grammar::State& Constraint::state_after(std::span<const model::Token> reply) {
  const auto left = std::ranges::mismatch(walked_, reply).in1;
  walked_.erase(left, walked_.end());
  states_.resize(walked_.size() + 1);
  for (const model::Token token : reply.subspan(walked_.size())) {
    states_.push_back(step(states_.back(), token));
    walked_.push_back(token);
  }
  return states_.back();
}

// After a draft that the grammar does not allow the state is empty, and no choice after it counts.
Grammar::State Constraint::step(const Grammar::State& state, model::Token token) const {
  if (grammar_.allows_anything(state)) return state;
  if (std::ranges::find(marks_, token) != marks_.end()) return grammar_.after_mark(state, token);
  const auto text = texts_.find(token);
  if (text == texts_.end()) return {};
  Grammar::State next = state;
  for (const char byte : *text->second)
    next = grammar_.after_byte(next, static_cast<unsigned char>(byte));
  return next;
}

const std::vector<bool>& Constraint::allowed_in(const Grammar::State& state, std::size_t size) {
  if (const auto known = masks_.find(state); known != masks_.end()) return known->second;
  if (masks_.size() == kMostMasks) masks_.clear();
  return masks_[state] = find_allowed(state, size);
}

// The texts are in order, so each begins where its neighbour left off.
std::vector<bool> Constraint::find_allowed(const Grammar::State& state, std::size_t size) const {
  std::vector<bool> allowed(size, state.empty());
  std::vector<Grammar::State> path{state};  // after each byte of `walked` that was possible
  std::string_view walked;
  for (const auto& [text, token] : vocabulary_) {
    const auto common =
        static_cast<std::size_t>(std::ranges::mismatch(walked, text).in2 - text.begin());
    path.resize(std::min(path.size(), common + 1));
    walked = text;
    while (path.size() <= text.size() && !path.back().empty())
      path.push_back(
          grammar_.after_byte(path.back(), static_cast<unsigned char>(text[path.size() - 1])));
    if (path.size() == text.size() + 1 && !path.back().empty() &&
        static_cast<std::size_t>(token) < size)
      allowed[static_cast<std::size_t>(token)] = true;
  }
  for (const model::Token mark : marks_)
    if (!grammar_.after_mark(state, mark).empty()) allowed[static_cast<std::size_t>(mark)] = true;
  for (const model::Token stop : stops_)
    if (Grammar::may_end(state)) allowed[static_cast<std::size_t>(stop)] = true;
  return allowed;
}

}  // namespace engine::lane
