#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "patcher/syntax/tokens.h"

namespace patcher {

// Where each token of a text is, so that a run of tokens is looked for only where its rarest one
// stands. In building it looks at each token once.
class CodeIndex {
 public:
  // `code` are the indices of the tokens that are no comments.
  CodeIndex(const std::vector<Token>& tokens, const std::vector<uint32_t>& code,
            std::string_view text);

  // All positions in `code`, in order, of the tokens with this text, of code and of preprocessor
  // lines; a few of others may be among them.
  std::span<const uint32_t> places(std::string_view token) const;
  // A token's text as a number: equal for equal texts, and of two others nearly never.
  static uint32_t number(std::string_view token);
  const std::vector<uint32_t>& numbers() const { return numbers_; }  // of `code`

 private:
  size_t bucket(uint32_t number) const { return number & (begins_.size() - 2); }

  std::vector<uint32_t> numbers_;
  std::vector<uint32_t> begins_;  // of each bucket in places_, and the end
  std::vector<uint32_t> places_;
};

// For each place before a code token, and the end, the innermost bracket that is open there, by a
// number of its own: from one place a walk that leaves no block reaches another exactly if they
// have the same. Brackets are told apart by nothing but whether they open or close; preprocessor
// lines have none.
std::vector<uint32_t> bracket_blocks(const std::vector<Token>& tokens,
                                     const std::vector<uint32_t>& code, std::string_view text);

}  // namespace patcher
