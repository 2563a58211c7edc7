// What a reply may be, as a grammar of bytes: a pushdown automaton that is walked token by token.
//
// A rule is a list of alternatives, each a sequence of symbols: a set of bytes, a mark (one token,
// which no text is), or a rule. No rule may begin with itself, through others or not.
//
// The method is llama.cpp's: a state is the set of all stacks of positions that the text so far
// leaves possible, so nothing is ever taken back.
#pragma once

#include <bitset>
#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/token.h"

namespace engine::lane {

class Grammar {
 public:
  using Bytes = std::bitset<256>;
  using Rule = std::uint32_t;

  struct Symbol {
    enum class Kind : std::uint8_t { kEnd, kBytes, kMark, kRule, kAnything };
    Kind kind = Kind::kEnd;
    std::uint32_t value = 0;  // of bytes: their place in the table; else the token or the rule
  };
  using Sequence = std::vector<Symbol>;

  // The positions that are still to be walked, the next one last; empty: the reply may end.
  using Stack = std::vector<std::uint32_t>;
  using State = std::vector<Stack>;  // in order, each once

  // A rule without alternatives, which `add_alternative` gives it.
  Rule add_rule();
  Rule add_rule(const std::vector<Sequence>& alternatives);
  void add_alternative(Rule rule, const Sequence& sequence);

  Symbol one_of(const Bytes& bytes);
  static Symbol mark(model::Token token);
  static Symbol rule(Rule rule) { return {Symbol::Kind::kRule, rule}; }
  // From here on every token is allowed, and the end.
  static Symbol anything() { return {Symbol::Kind::kAnything, 0}; }
  Sequence literal(std::string_view text);

  // Whether some rule can begin with itself.
  bool is_left_recursive() const;
  std::size_t size() const { return symbols_.size(); }

  State begin(Rule root) const;
  // Empty where the grammar has no such text.
  State after_byte(const State& state, unsigned char byte) const;
  State after_mark(const State& state, model::Token token) const;
  // The next symbol is `anything`.
  bool allows_anything(const State& state) const;
  static bool may_end(const State& state);

 private:
  template <typename Takes>
  State after(const State& state, Takes&& takes) const;
  void expand(Stack stack, State& state) const;

  std::vector<Symbol> symbols_;  // all alternatives, each closed by kEnd
  std::vector<Bytes> sets_;
  std::vector<std::vector<std::uint32_t>> rules_;  // where the alternatives of each begin
};

}  // namespace engine::lane
