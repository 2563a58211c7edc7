#include "patcher/hunk/token_index.h"

#include <algorithm>

#include "patcher/text/lines.h"

namespace patcher {

std::vector<uint32_t> TokenNumbers::of(const std::vector<Token>& tokens, std::string_view text) {
  std::vector<uint32_t> out;
  for (const Token& token : tokens) {
    if (token.comment) continue;
    std::string key(token.directive ? "#" : " ");
    key += token.text(text);
    out.push_back(
        known_.emplace(std::move(key), static_cast<uint32_t>(known_.size())).first->second);
  }
  return out;
}

TokenIndex::TokenIndex(const Source& source, TokenNumbers& numbers)
    : source_(source), numbers_(numbers.of(source.tokens(), source.bytes())) {
  for (size_t i = 0; i < numbers_.size(); ++i)
    places_[numbers_[i]].push_back(static_cast<uint32_t>(i));
}

std::vector<uint32_t> TokenIndex::run(size_t begin, size_t end) const {
  return {numbers_.begin() + static_cast<std::ptrdiff_t>(begin),
          numbers_.begin() + static_cast<std::ptrdiff_t>(end)};
}

size_t TokenIndex::at_line(size_t line) const {
  const Lines& lines = source_.lines();
  if (line >= lines.count()) return size();
  const uint32_t byte = lines.begin(line);
  const auto& code = source_.code();
  const auto it = std::partition_point(
      code.begin(), code.end(), [&](uint32_t t) { return source_.tokens()[t].begin < byte; });
  return static_cast<size_t>(it - code.begin());
}

size_t TokenIndex::line_of(size_t code) const {
  return source_.lines().line_of(token(code).begin);
}

size_t TokenIndex::last_line_of(size_t code) const {
  return source_.lines().line_of(token(code).end - 1);
}

size_t TokenIndex::letters(size_t begin, size_t end) const {
  size_t out = 0;
  for (size_t i = begin; i < end; ++i)
    out += patcher::letters(token(i).text(source_.bytes()));
  return out;
}

std::vector<size_t> TokenIndex::find(const std::vector<uint32_t>& run, CodeRange range,
                                     size_t most) const {
  std::vector<size_t> out;
  const std::vector<uint32_t>* rarest = nullptr;
  size_t offset = 0;
  for (size_t i = 0; i < run.size(); ++i) {
    const auto it = places_.find(run[i]);
    if (it == places_.end()) return out;
    if (rarest != nullptr && rarest->size() <= it->second.size()) continue;
    rarest = &it->second;
    offset = i;
  }
  if (rarest == nullptr) return out;
  for (const uint32_t place : *rarest) {
    if (place < range.first + offset || place - offset + run.size() > range.second) continue;
    const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>(place - offset);
    if (!std::equal(run.begin(), run.end(), begin)) continue;
    out.push_back(place - offset);
    if (out.size() == most) break;
  }
  return out;
}

}  // namespace patcher
