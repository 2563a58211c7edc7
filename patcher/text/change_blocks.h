#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "patcher/text/edit.h"

namespace patcher {

// One run of changed lines between two texts: lines [before_begin, before_end) became
// [after_begin, after_end), counted from 0. One of the two may be empty.
struct ChangeBlock {
  size_t before_begin = 0;
  size_t before_end = 0;
  size_t after_begin = 0;
  size_t after_end = 0;

  bool inserts() const { return before_begin == before_end; }
  bool deletes() const { return after_begin == after_end; }
};

// Where a run stands that could stand at several places with the same result: where `git diff` puts
// it without any configuration, or anywhere, which is found without a look at the lines that two
// large texts have in common at their begin and their end.
enum class Placing { kAsGit, kAnywhere };

// The runs in order; at least one unchanged line lies between two of them. Lines are equal when
// their bytes and line ends are. Throws BrokenEnvironment for what libgit2 cannot compare.
std::vector<ChangeBlock> change_blocks(std::string_view before, std::string_view after,
                                       Placing placing = Placing::kAsGit);
// The blocks, runs of changed lines between the two texts, as edits of the first.
std::vector<ByteEdit> line_edits(std::string_view before, std::string_view after,
                                 std::span<const ChangeBlock> blocks);

}  // namespace patcher
