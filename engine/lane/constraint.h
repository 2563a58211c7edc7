// Keeps a reply within a grammar: a runtime::LogitsRule that bans every token which it cannot go on
// with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lane/grammar.h"
#include "model/model.h"
#include "runtime/sampler.h"

namespace engine::lane {

// The texts of a model's tokens, marks and those without a text left out, in the order of bytes.
using Vocabulary = std::vector<std::pair<std::string, model::Token>>;
Vocabulary vocabulary_of(const model::Tokenizer& tokenizer);

class Constraint {
 public:
  // `stops` may come where the text is complete, and only then. `vocabulary` outlives it.
  Constraint(Grammar grammar, Grammar::Rule root, const Vocabulary& vocabulary,
             std::vector<model::Token> marks, std::vector<model::Token> stops);

  // Bans what cannot follow `reply`. A pure function of both; what it remembers saves work only.
  void apply(std::span<const model::Token> reply, std::span<float> logits);

 private:
  const Grammar::State& state_after(std::span<const model::Token> reply);
  const std::vector<bool>& allowed_in(const Grammar::State& state, std::size_t size);
  std::vector<bool> find_allowed(const Grammar::State& state, std::size_t size) const;
  Grammar::State step(const Grammar::State& state, model::Token token) const;

  const Grammar grammar_;
  const Vocabulary& vocabulary_;
  const std::vector<model::Token> marks_, stops_;
  std::map<model::Token, const std::string*> texts_;
  std::vector<model::Token> walked_;    // the latest reply
  std::vector<Grammar::State> states_;  // before its tokens, and after the last
  std::map<Grammar::State, std::vector<bool>> masks_;
};

}  // namespace engine::lane
