#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patcher {

// Replaces bytes [begin, end) by text; an insertion has begin == end.
struct ByteEdit {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string text = {};
};

// Sorts by place; edits at one place keep the order in which they were given.
void sort_edits(std::vector<ByteEdit>& edits);

// The first byte that two edits both change, or nothing. REQUIRES sorted edits. Two insertions at
// the same byte overlap too: nothing says which comes first.
std::optional<uint32_t> first_overlap(const std::vector<ByteEdit>& edits);

// Sorts, with each edit cut down to the bytes of `text` that it changes, and those that change none
// left out. What is inserted at one byte becomes one edit with what follows it there, in the order
// in which it was given.
void tidy_edits(std::string_view text, std::vector<ByteEdit>& edits);

// The text after the edits. REQUIRES sorted, not overlapping, inside the text. Bytes outside of the
// edits are copied as they are.
std::string apply_edits(std::string_view text, const std::vector<ByteEdit>& edits);

// Whether both give the same text; looks only at what lies between the first and the last byte that
// either changes. REQUIRES both as apply_edits() does.
bool same_result(std::string_view text, const std::vector<ByteEdit>& a,
                 const std::vector<ByteEdit>& b);

}  // namespace patcher
