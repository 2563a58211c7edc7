// Tokens by their texts, for finding those that a text begins with. Internal.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "model/token.h"

namespace engine::model {

// A trie laid out as a sorted list: what shares a prefix is a range of it. Const after
// construction; any thread may call it. The texts must outlive it.
class PrefixTable {
 public:
  struct Entry {
    std::string_view text;  // not empty; no two are the same
    Token token;
  };

  explicit PrefixTable(std::vector<Entry> entries) : entries_(std::move(entries)) {
    std::ranges::sort(entries_, {}, &Entry::text);
    std::size_t at = 0;
    for (unsigned byte = 0; byte < 256; ++byte) {
      begins_[byte] = at;
      while (at < entries_.size() && byte_at(entries_[at], 0) == byte)
        ++at;
    }
    begins_[256] = at;
  }

  bool empty() const { return entries_.empty(); }

  // Calls found(entry) for each entry that `text` begins with, the shortest first.
  // REQUIRES: `text` is not empty.
  template <typename Found>
  void for_each_prefix(std::string_view text, const Found& found) const {
    const unsigned first = static_cast<unsigned char>(text[0]);
    auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(begins_[first]);
    auto end = entries_.begin() + static_cast<std::ptrdiff_t>(begins_[first + 1]);
    for (std::size_t depth = 1; begin != end; ++depth) {
      if (begin->text.size() == depth) found(*begin++);
      if (depth == text.size()) return;
      const auto byte = [depth](const Entry& entry) { return byte_at(entry, depth); };
      const unsigned wanted = static_cast<unsigned char>(text[depth]);
      const auto range = std::ranges::equal_range(begin, end, wanted, {}, byte);
      begin = range.begin();
      end = range.end();
    }
  }

 private:
  static unsigned byte_at(const Entry& entry, std::size_t index) {
    return static_cast<unsigned char>(entry.text[index]);
  }

  std::vector<Entry> entries_;
  std::array<std::size_t, 257> begins_{};  // of the entries by their first byte
};

}  // namespace engine::model
