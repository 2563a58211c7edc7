#include "model/bpe.h"

#include <algorithm>
#include <tuple>

namespace engine::model {
namespace {

constexpr auto kNone = static_cast<std::size_t>(-1);
constexpr Token kMerged = -1;  // a symbol that its left neighbour has swallowed

std::uint64_t key_of(Token left, Token right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U |
         static_cast<std::uint32_t>(right);
}

// For a heap whose top is the best rank, leftmost among equals.
bool after(const Bpe::Candidate& a, const Bpe::Candidate& b) {
  return std::tie(a.rank, a.left) > std::tie(b.rank, b.left);
}

}  // namespace

bool Bpe::add_merge(Token left, Token right, Token result) {
  const auto rank = static_cast<std::uint32_t>(merges_.size());
  return merges_.try_emplace(key_of(left, right), Merge{rank, result}).second;
}

const Bpe::Merge* Bpe::find(Token left, Token right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void Bpe::push(std::size_t left, Scratch& scratch) const {
  const Symbol& symbol = scratch.symbols[left];
  if (symbol.next == kNone) return;
  const Merge* const merge = find(symbol.token, scratch.symbols[symbol.next].token);
  if (merge == nullptr) return;
  scratch.heap.push_back({merge->rank, left, merge->result});
  std::ranges::push_heap(scratch.heap, after);
}

void Bpe::take(const Candidate& candidate, Scratch& scratch) const {
  auto& symbols = scratch.symbols;
  Symbol& left = symbols[candidate.left];
  if (left.token == kMerged || left.next == kNone) return;
  // The pair may have changed since it was pushed; its rank tells.
  const Merge* const current = find(left.token, symbols[left.next].token);
  if (current == nullptr || current->rank != candidate.rank) return;
  Symbol& right = symbols[left.next];
  right.token = kMerged;
  left.token = candidate.result;
  left.next = right.next;
  if (left.next != kNone) symbols[left.next].previous = candidate.left;
  if (left.previous != kNone) push(left.previous, scratch);
  push(candidate.left, scratch);
}

void Bpe::merge(std::span<const Token> piece, Scratch& scratch, std::vector<Token>& out) const {
  auto& symbols = scratch.symbols;
  symbols.clear();
  for (std::size_t i = 0; i < piece.size(); ++i)
    symbols.push_back({piece[i], i == 0 ? kNone : i - 1, i + 1 == piece.size() ? kNone : i + 1});
  scratch.heap.clear();
  for (std::size_t i = 0; i < symbols.size(); ++i)
    push(i, scratch);
  while (!scratch.heap.empty()) {
    std::ranges::pop_heap(scratch.heap, after);
    const Candidate best = scratch.heap.back();
    scratch.heap.pop_back();
    take(best, scratch);
  }
  for (const Symbol& symbol : symbols) {
    if (symbol.token != kMerged) out.push_back(symbol.token);
  }
}

}  // namespace engine::model
