#include "patcher/syntax/code_index.h"

#include <bit>
#include <functional>

namespace patcher {
namespace {

// +1, -1 or 0 for a bracket.
int turn(const Token& token, std::string_view text) {
  if (token.directive || token.end - token.begin != 1) return 0;
  switch (text[token.begin]) {
    case '(':
    case '[':
    case '{':
      return 1;
    case ')':
    case ']':
    case '}':
      return -1;
    default:
      return 0;
  }
}

}  // namespace

CodeIndex::CodeIndex(const std::vector<Token>& tokens, const std::vector<uint32_t>& code,
                     std::string_view text)
    : begins_(std::bit_ceil(code.size() + 1) + 1), places_(code.size()) {
  numbers_.reserve(code.size());
  for (const uint32_t t : code) {
    numbers_.push_back(number(tokens[t].text(text)));
    ++begins_[bucket(numbers_.back())];
  }
  uint32_t end = 0;
  for (uint32_t& begin : begins_)
    begin = end += begin;
  // Filled from the last, so that each bucket's begin arrives at its first place.
  for (size_t i = code.size(); i-- > 0;)
    places_[--begins_[bucket(numbers_[i])]] = static_cast<uint32_t>(i);
}

uint32_t CodeIndex::number(std::string_view token) {
  const uint64_t hash = std::hash<std::string_view>()(token);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

std::span<const uint32_t> CodeIndex::places(std::string_view token) const {
  const size_t b = bucket(number(token));
  return {places_.data() + begins_[b], places_.data() + begins_[b + 1]};
}

std::vector<uint32_t> bracket_blocks(const std::vector<Token>& tokens,
                                     const std::vector<uint32_t>& code, std::string_view text) {
  std::vector<uint32_t> blocks;
  blocks.reserve(code.size() + 1);
  std::vector<uint32_t> open;
  uint32_t here = 0;
  uint32_t last = 0;
  for (const uint32_t t : code) {
    blocks.push_back(here);
    const int step = turn(tokens[t], text);
    if (step > 0) {
      open.push_back(here);
      here = ++last;
    } else if (step < 0) {
      here = open.empty() ? ++last : open.back();
      if (!open.empty()) open.pop_back();
    }
  }
  blocks.push_back(here);
  return blocks;
}

}  // namespace patcher
