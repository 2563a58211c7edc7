#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "patcher/hunk/anchor.h"
#include "patcher/syntax/source.h"

namespace patcher {

// Numbers for tokens, so that runs of them compare fast; equal tokens (see same_token) have equal
// numbers. Shared by the files that are compared.
class TokenNumbers {
 public:
  // The numbers of the code tokens of a text, comments left out.
  std::vector<uint32_t> of(const std::vector<Token>& tokens, std::string_view text);

 private:
  std::unordered_map<std::string, uint32_t> known_;
};

// The code tokens of one file, for finding runs of them. Borrows the source.
class TokenIndex {
 public:
  TokenIndex(const Source& source, TokenNumbers& numbers);

  const Source& source() const { return source_; }
  size_t size() const { return numbers_.size(); }
  uint32_t number(size_t code) const { return numbers_[code]; }
  const Token& token(size_t code) const { return source_.tokens()[source_.code()[code]]; }
  std::vector<uint32_t> run(size_t begin, size_t end) const;
  // The first code token at or after a line's begin; size() when there is none.
  size_t at_line(size_t line) const;
  size_t line_of(size_t code) const;       // where the token begins
  size_t last_line_of(size_t code) const;  // where it ends
  // How many letters and digits the tokens have.
  size_t letters(size_t begin, size_t end) const;
  // Where the run begins in the range; at most `most` places.
  std::vector<size_t> find(const std::vector<uint32_t>& run, CodeRange range,
                           size_t most = 2) const;

 private:
  const Source& source_;
  std::vector<uint32_t> numbers_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> places_;
};

}  // namespace patcher
