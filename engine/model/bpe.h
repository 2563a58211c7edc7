// Pair merging of one piece. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/token.h"

namespace engine::model {

class Bpe {
 public:
  // Working memory, kept between pieces. One per thread.
  struct Symbol {
    Token token;
    std::size_t previous, next;  // kNone at the ends
  };
  struct Candidate {
    std::uint32_t rank;
    std::size_t left;
    Token result;
  };
  struct Scratch {
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
  };

  void reserve(std::size_t merges) { merges_.reserve(merges); }

  // Later merges rank lower. False if the pair has one already.
  bool add_merge(Token left, Token right, Token result);

  // Appends what merging makes of a piece's first tokens (those of its bytes or characters): the
  // pair of the best rank is merged, the leftmost first, until no pair has a merge. O(n log n), no
  // recursion.
  void merge(std::span<const Token> piece, Scratch& scratch, std::vector<Token>& out) const;

 private:
  struct Merge {
    std::uint32_t rank;
    Token result;
  };

  const Merge* find(Token left, Token right) const;
  void push(std::size_t left, Scratch& scratch) const;
  void take(const Candidate& candidate, Scratch& scratch) const;

  std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace engine::model
