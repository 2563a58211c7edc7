#include "lane/grammar.h"

#include <algorithm>

namespace engine::lane {

using Kind = Grammar::Symbol::Kind;

Grammar::Rule Grammar::add_rule() {
  rules_.emplace_back();
  return static_cast<Rule>(rules_.size() - 1);
}

Grammar::Rule Grammar::add_rule(const std::vector<Sequence>& alternatives) {
  const Rule rule = add_rule();
  for (const Sequence& sequence : alternatives)
    add_alternative(rule, sequence);
  return rule;
}

void Grammar::add_alternative(Rule rule, const Sequence& sequence) {
  rules_[rule].push_back(static_cast<std::uint32_t>(symbols_.size()));
  symbols_.insert(symbols_.end(), sequence.begin(), sequence.end());
  symbols_.emplace_back();
}

Grammar::Symbol Grammar::one_of(const Bytes& bytes) {
  auto known = std::ranges::find(sets_, bytes);
  if (known == sets_.end()) known = sets_.insert(known, bytes);
  return {Kind::kBytes, static_cast<std::uint32_t>(known - sets_.begin())};
}

Grammar::Symbol Grammar::mark(model::Token token) {
  return {Kind::kMark, static_cast<std::uint32_t>(token)};
}

Grammar::Sequence Grammar::literal(std::string_view text) {
  Sequence sequence;
  for (const char byte : text)
    sequence.push_back(one_of(Bytes().set(static_cast<unsigned char>(byte))));
  return sequence;
}

// Colours: 1 while what a rule can begin with is looked at, 2 after.
bool Grammar::is_left_recursive() const {
  std::vector<int> colours(rules_.size());
  std::vector<bool> nullable(rules_.size());
  const auto is_null = [&](std::uint32_t at) {
    while (symbols_[at].kind == Kind::kRule && nullable[symbols_[at].value])
      ++at;
    return symbols_[at].kind == Kind::kEnd;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
      if (nullable[rule] || !std::ranges::any_of(rules_[rule], is_null)) continue;
      nullable[rule] = changed = true;
    }
  }
  const auto visit = [&](const auto& self, Rule rule) -> bool {
    if (colours[rule] != 0) return colours[rule] == 1;
    colours[rule] = 1;
    for (std::uint32_t at : rules_[rule]) {
      for (; symbols_[at].kind == Kind::kRule; ++at) {
        if (self(self, symbols_[at].value)) return true;
        if (!nullable[symbols_[at].value]) break;
      }
    }
    colours[rule] = 2;
    return false;
  };
  for (Rule rule = 0; rule < rules_.size(); ++rule)
    if (visit(visit, rule)) return true;
  return false;
}

Grammar::State Grammar::begin(Rule root) const {
  State state;
  for (const std::uint32_t at : rules_[root])
    expand({at}, state);
  std::ranges::sort(state);
  state.erase(std::unique(state.begin(), state.end()), state.end());
  return state;
}

void Grammar::expand(Stack stack, State& state) const {
  while (!stack.empty() && symbols_[stack.back()].kind == Kind::kEnd)
    stack.pop_back();
  if (stack.empty() || symbols_[stack.back()].kind != Kind::kRule) {
    state.push_back(std::move(stack));
    return;
  }
  const std::uint32_t rule = symbols_[stack.back()++].value;
  if (symbols_[stack.back()].kind == Kind::kEnd) stack.pop_back();  // keeps repetitions flat
  for (const std::uint32_t at : rules_[rule]) {
    Stack deeper = stack;
    deeper.push_back(at);
    expand(std::move(deeper), state);
  }
}

template <typename Takes>
Grammar::State Grammar::after(const State& state, Takes&& takes) const {
  State next;
  for (const Stack& stack : state) {
    if (stack.empty() || !takes(symbols_[stack.back()])) continue;
    Stack moved = stack;
    ++moved.back();
    expand(std::move(moved), next);
  }
  std::ranges::sort(next);
  next.erase(std::unique(next.begin(), next.end()), next.end());
  return next;
}

Grammar::State Grammar::after_byte(const State& state, unsigned char byte) const {
  return after(state, [&](const Symbol& symbol) {
    return symbol.kind == Kind::kBytes && sets_[symbol.value][byte];
  });
}

Grammar::State Grammar::after_mark(const State& state, model::Token token) const {
  return after(state, [&](const Symbol& symbol) {
    return symbol.kind == Kind::kMark && symbol.value == static_cast<std::uint32_t>(token);
  });
}

bool Grammar::allows_anything(const State& state) const {
  return std::ranges::any_of(state, [&](const Stack& stack) {
    return !stack.empty() && symbols_[stack.back()].kind == Kind::kAnything;
  });
}

bool Grammar::may_end(const State& state) {
  return std::ranges::any_of(state, [](const Stack& stack) { return stack.empty(); });
}

}  // namespace engine::lane
