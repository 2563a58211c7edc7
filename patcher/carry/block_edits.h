#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/carry/carry_place.h"
#include "patcher/text/edit.h"

namespace patcher {

// The edits that make a block of changed lines of the base at its place in the target: the block
// becomes a hunk, with what stands next to it as context, and is written as any hunk is. Nothing,
// and why in `why`, where a comment at the place is another one than the base has there.
std::optional<std::vector<ByteEdit>> block_edits(const TokenIndex& base, const TokenIndex& target,
                                                 const std::vector<std::string_view>& after_lines,
                                                 const ChangeBlock& block,
                                                 const CarriedPlace& place, std::string& why);

// What a block of comments and blanks alone changes: no code says where it is, its lines do, if
// they are there once in either file. What is added to a comment stands beside the line of it that
// is left.
std::optional<std::vector<ByteEdit>> comment_edits(const TokenIndex& base, const TokenIndex& target,
                                                   const std::vector<std::string_view>& after_lines,
                                                   const ChangeBlock& block);

}  // namespace patcher
