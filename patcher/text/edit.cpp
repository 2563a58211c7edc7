#include "patcher/text/edit.h"

#include <algorithm>

namespace patcher {
namespace {

void trim(std::string_view whole, ByteEdit& edit) {
  const std::string_view old = whole.substr(edit.begin, edit.end - edit.begin);
  const std::string_view text = edit.text;
  const size_t most = std::min(old.size(), text.size());
  size_t front = 0;
  while (front < most && old[front] == text[front])
    ++front;
  size_t back = 0;
  while (back < most - front && old[old.size() - 1 - back] == text[text.size() - 1 - back])
    ++back;
  edit.begin += static_cast<uint32_t>(front);
  edit.end -= static_cast<uint32_t>(back);
  edit.text = std::string(text.substr(front, text.size() - front - back));
}

// REQUIRES sorted edits.
void join_insertions(std::vector<ByteEdit>& edits) {
  std::vector<ByteEdit> joined;
  for (ByteEdit& e : edits) {
    const bool follows = !joined.empty() && joined.back().begin == joined.back().end &&
                         joined.back().begin == e.begin;
    if (!follows) {
      joined.push_back(std::move(e));
    } else {
      joined.back().end = e.end;
      joined.back().text += e.text;
    }
  }
  edits = std::move(joined);
}

}  // namespace

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

void tidy_edits(std::string_view text, std::vector<ByteEdit>& edits) {
  for (ByteEdit& edit : edits)
    trim(text, edit);
  std::erase_if(edits, [](const ByteEdit& e) { return e.begin == e.end && e.text.empty(); });
  sort_edits(edits);
  join_insertions(edits);
}

bool same_result(std::string_view text, const std::vector<ByteEdit>& a,
                 const std::vector<ByteEdit>& b) {
  if (a.empty() && b.empty()) return true;
  uint32_t begin = UINT32_MAX;
  uint32_t end = 0;
  for (const auto* edits : {&a, &b}) {
    if (edits->empty()) continue;
    begin = std::min(begin, edits->front().begin);
    end = std::max(end, edits->back().end);
  }
  const auto result = [&](std::vector<ByteEdit> edits) {
    for (ByteEdit& edit : edits) {
      edit.begin -= begin;
      edit.end -= begin;
    }
    return apply_edits(text.substr(begin, end - begin), edits);
  };
  return result(a) == result(b);
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
