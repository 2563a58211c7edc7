#include "patcher/hunk/token_edits.h"

#include <algorithm>

#include "patcher/text/align.h"

namespace patcher {
namespace {

bool equal_element(const Side& a_side, size_t a, const Side& b_side, size_t b) {
  const Token& x = a_side.tokens[a];
  const Token& y = b_side.tokens[b];
  if (x.comment != y.comment) return false;
  if (x.comment) return squeeze(a_side.token_text(a)) == squeeze(b_side.token_text(b));
  return x.directive == y.directive && a_side.token_text(a) == b_side.token_text(b);
}

IndexPairs common_elements(const Side& a_side, const std::vector<size_t>& a, const Side& b_side,
                           const std::vector<size_t>& b) {
  return best_alignment(a.size(), b.size(), [&](size_t i, size_t j) {
    return equal_element(a_side, a[i], b_side, b[j]) ? 1.0F : 0.0F;
  });
}

// How many elements best_alignment would pair, without saying which: that is most of the work.
size_t count_common(const Side& a_side, const std::vector<size_t>& a, const Side& b_side,
                    const std::vector<size_t>& b) {
  if (a.size() > kMaxAlignCells / b.size()) return 0;
  const auto equal = [&](size_t i, size_t j) { return equal_element(a_side, a[i], b_side, b[j]); };
  size_t n = a.size();
  size_t m = b.size();
  size_t same = 0;
  while (same < std::min(n, m) && equal(same, same))
    ++same;
  const size_t front = same;
  for (; std::min(n, m) > front && equal(n - 1, m - 1); --n, --m)
    ++same;
  std::vector<size_t> row(m - front + 1,
                          0);  // by j: the most that a[front, i) and b[front, j) share
  for (size_t i = front; i < n; ++i) {
    size_t diagonal = 0;
    for (size_t j = front; j < m; ++j) {
      size_t& here = row[j - front + 1];
      const size_t above = here;
      here = equal(i, j) ? diagonal + 1 : std::max(above, row[j - front]);
      diagonal = above;
    }
  }
  return same + row.back();
}

// Computes the edit of one changed run: elements [i, j) of `before` become [k, l) of `after`.
class RunEditor {
 public:
  RunEditor(const Source& source, const Overlay& overlay, const Side& before_side,
            const std::vector<size_t>& before, const Side& after_side,
            const std::vector<size_t>& after)
      : source_(source),
        overlay_(overlay),
        before_side_(before_side),
        before_(before),
        after_side_(after_side),
        after_(after) {}

  ByteEdit edit(size_t i, size_t j, size_t k, size_t l) const {
    if (i == j) return insertion(i, k, l);
    if (k == l) return deletion(i, j, k);
    return {target(i).begin, target(j - 1).end, after_text(k, l)};
  }

 private:
  const Token& target(size_t i) const { return source_.tokens()[*overlay_.token[before_[i]]]; }
  const Token& old_token(size_t i) const { return before_side_.tokens[before_[i]]; }
  const Token& new_token(size_t k) const { return after_side_.tokens[after_[k]]; }

  std::string after_text(size_t k, size_t l) const {
    return after_side_.text.substr(new_token(k).begin, new_token(l - 1).end - new_token(k).begin);
  }
  // White space in the patch before element k of `after` / i of `before`.
  std::string after_gap(size_t k) const {
    if (k == 0 || k == after_.size()) return {};
    return after_side_.text.substr(new_token(k - 1).end, new_token(k).begin - new_token(k - 1).end);
  }
  std::string before_gap(size_t i) const {
    if (i == 0 || i == before_.size()) return {};
    return before_side_.text.substr(old_token(i - 1).end,
                                    old_token(i).begin - old_token(i - 1).end);
  }

  ByteEdit insertion(size_t i, size_t k, size_t l) const {
    const std::string left = after_gap(k);
    const std::string right = after_gap(l);
    const std::string text = after_text(k, l);
    if (i == 0) return {target(0).begin, target(0).begin, text + right};
    const uint32_t left_end = target(i - 1).end;
    if (i == before_.size()) return {left_end, left_end, left + text};
    const uint32_t right_begin = target(i).begin;
    if (left_end == right_begin) return {left_end, left_end, left + text + right};
    if (right.empty()) return {right_begin, right_begin, text};
    return {left_end, left_end, left + text};
  }

  ByteEdit deletion(size_t i, size_t j, size_t k) const {
    if (i == 0 && j == before_.size()) return {target(0).begin, target(j - 1).end, ""};
    if (i == 0) return {target(0).begin, target(j).begin, ""};
    if (j == before_.size()) return {target(i - 1).end, target(j - 1).end, ""};
    const std::string gap = after_gap(k);
    if (before_gap(i) == gap) return {target(i).begin, target(j).begin, ""};
    if (before_gap(j) == gap) return {target(i - 1).end, target(j - 1).end, ""};
    return {target(i - 1).end, target(j).begin, gap};
  }

  const Source& source_;
  const Overlay& overlay_;
  const Side& before_side_;
  const std::vector<size_t>& before_;
  const Side& after_side_;
  const std::vector<size_t>& after_;
};

}  // namespace

float similarity(const Side& a_side, const Unit& a, const Side& b_side, const Unit& b) {
  if (a.blank() || b.blank()) return a.blank() && b.blank() ? 1.0F : 0.0F;
  const size_t common = count_common(a_side, a.elements, b_side, b.elements);
  return 2.0F * static_cast<float>(common) /
         static_cast<float>(a.elements.size() + b.elements.size());
}

std::vector<ByteEdit> token_edits(const Source& source, const Overlay& overlay,
                                  const Side& before_side, const Unit& before,
                                  const Side& after_side, const Unit& after) {
  std::vector<size_t> present;
  for (size_t t : before.elements) {
    if (overlay.token[t]) present.push_back(t);
  }
  IndexPairs kept = common_elements(before_side, present, after_side, after.elements);
  kept.emplace_back(present.size(), after.elements.size());
  const RunEditor editor(source, overlay, before_side, present, after_side, after.elements);
  std::vector<ByteEdit> edits;
  size_t i = 0;
  size_t k = 0;
  for (const auto& [j, l] : kept) {
    if (i < j || k < l) edits.push_back(editor.edit(i, j, k, l));
    i = j + 1;
    k = l + 1;
  }
  return edits;
}

}  // namespace patcher
