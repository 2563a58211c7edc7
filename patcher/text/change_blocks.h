#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

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

// The runs in order; at least one unchanged line lies between two of them. Where a run that only
// adds or only removes could stand at several places with the same result, it stands where its
// indentation and the blank lines around show it to be one thing, as in git's diffs.
std::vector<ChangeBlock> change_blocks(std::string_view before, std::string_view after);

}  // namespace patcher
