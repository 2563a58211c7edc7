#pragma once

#include <algorithm>
#include <set>
#include <string_view>

#include "patcher/syntax/source.h"
#include "patcher/text/change_blocks.h"

namespace patcher {

// Every word and sign of a file outside of its comments.
std::set<std::string_view> names_in(const Source& source);

// `int x`, `T *x`, `A<T> &x` at a token: what declares a name and does not use it.
bool follows_type(const Source& source, size_t token);
// `.x`, `->x`.
bool is_member(const Source& source, size_t token);

// The one function of the file that has the name and the parameters of `scope`, or its name alone
// where no other has it; null where it is not there once.
const Scope* only_function(const Source& source, const Scope& scope);

// Calls use(token) for each token of the lines of `after` that `before` has not, but comments.
template <typename Use>
void added_tokens(const Source& before, const Source& after, Use use) {
  const auto& tokens = after.tokens();
  for (const ChangeBlock& block : change_blocks(before.bytes(), after.bytes())) {
    if (block.deletes()) continue;
    const uint32_t begin = after.lines().begin(block.after_begin);
    const uint32_t end = after.lines().end(block.after_end - 1);
    auto token = std::partition_point(tokens.begin(), tokens.end(),
                                      [&](const Token& t) { return t.begin < begin; });
    for (; token != tokens.end() && token->begin < end; ++token) {
      if (!token->comment) use(static_cast<size_t>(token - tokens.begin()));
    }
  }
}

}  // namespace patcher
