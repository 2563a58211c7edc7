#pragma once

#include <optional>
#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/hunk/anchor.h"
#include "patcher/text/edit.h"

namespace patcher {

// The byte edits that one hunk makes at its site.
//
//  - A removed line that is in the target as the patch has it becomes the added line that it pairs
//    with. One that the target formats differently changes in the differing tokens only.
//  - Removed lines without a pair go, with their line ends if they have their lines for themselves.
//  - Added lines without a pair land after the anchor line before them, or before the one after
//    them when there is none, on lines of their own, with the neighbour's indentation style and
//    line end.
//  - A comment goes only if a removed line lists it; otherwise `lost_comment` names its first byte
//    and the hunk must be refused. A listed comment that is not there is in `absent_comment` (a
//    token index of the side), and refuses too.
struct Rewrite {
  std::vector<ByteEdit> edits = {};  // sorted, trimmed to the bytes that differ
  size_t removed_trivia = 0;  // comments and blank lines that the hunk removes and that are there
  std::optional<uint32_t> lost_comment = {};
  std::optional<size_t> absent_comment = {};
};

// REQUIRES a hunk that went through whole_tokens(), its old side, and a match of it.
Rewrite rewrite_hunk(const Source& source, const Hunk& hunk, const Side& before,
                     const Match& match);

}  // namespace patcher
