#include "patcher/edit.h"

#include <algorithm>

namespace patcher {

void sort_edits(std::vector<ByteEdit>& edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const ByteEdit& a, const ByteEdit& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
}

std::optional<uint32_t> first_overlap(const std::vector<ByteEdit>& edits) {
  for (size_t i = 1; i < edits.size(); ++i) {
    const ByteEdit& before = edits[i - 1];
    const bool same_insertion = before.begin == before.end && edits[i].begin == edits[i].end &&
                                before.begin == edits[i].begin;
    if (edits[i].begin < before.end || same_insertion) return edits[i].begin;
  }
  return std::nullopt;
}

std::string apply_edits(std::string_view text, const std::vector<ByteEdit>& edits) {
  std::string out;
  out.reserve(text.size() + 256);
  size_t pos = 0;
  for (const ByteEdit& edit : edits) {
    out.append(text.substr(pos, edit.begin - pos));
    out.append(edit.text);
    pos = edit.end;
  }
  out.append(text.substr(pos));
  return out;
}

}  // namespace patcher
