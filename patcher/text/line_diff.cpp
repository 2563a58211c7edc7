#include "patcher/text/line_diff.h"

#include <algorithm>

namespace patcher {
namespace {

constexpr size_t kContext = 3;

// Line i of `before` removed, or line j of `after` added, or both kept.
struct Edit {
  char kind;
  size_t i;
  size_t j;
};

std::vector<std::string_view> split_keeping_ends(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

class Myers {
 public:
  Myers(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b)
      : a_(a), b_(b) {}

  std::vector<Edit> run() {
    const auto most = static_cast<long>(a_.size() + b_.size());
    std::vector<long> v(static_cast<size_t>(2 * most + 3), 0);
    for (long d = 0; d <= most; ++d) {
      trace_.push_back(v);
      for (long k = -d; k <= d; k += 2) {
        const size_t at = static_cast<size_t>(k + most + 1);
        const bool down = k == -d || (k != d && v[at - 1] < v[at + 1]);
        long x = down ? v[at + 1] : v[at - 1] + 1;
        while (x < n() && x - k < m() && a_[size_t(x)] == b_[size_t(x - k)])
          ++x;
        v[at] = x;
        if (x >= n() && x - k >= m()) return backtrack(d, most);
      }
    }
    return {};
  }

 private:
  long n() const { return static_cast<long>(a_.size()); }
  long m() const { return static_cast<long>(b_.size()); }

  std::vector<Edit> backtrack(long d, long most) const {
    std::vector<Edit> edits;
    long x = n();
    long y = m();
    for (; d >= 0; --d) {
      const std::vector<long>& v = trace_[static_cast<size_t>(d)];
      const long k = x - y;
      const size_t at = static_cast<size_t>(k + most + 1);
      const bool down = k == -d || (k != d && v[at - 1] < v[at + 1]);
      const long from_k = down ? k + 1 : k - 1;
      const long from_x = d == 0 ? 0 : v[static_cast<size_t>(from_k + most + 1)];
      const long from_y = d == 0 ? 0 : from_x - from_k;
      while (x > from_x && y > from_y)
        keep(edits, --x, --y);
      if (d == 0) break;
      if (down) {
        edits.push_back({'+', size_t(x), size_t(--y)});
      } else {
        edits.push_back({'-', size_t(--x), size_t(y)});
      }
    }
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  static void keep(std::vector<Edit>& edits, long x, long y) {
    edits.push_back({' ', size_t(x), size_t(y)});
  }

  const std::vector<std::string_view>& a_;
  const std::vector<std::string_view>& b_;
  std::vector<std::vector<long>> trace_;
};

// The script for texts without their equal first and last lines, which keeps large files cheap.
std::vector<Edit> line_edits(const std::vector<std::string_view>& a,
                             const std::vector<std::string_view>& b) {
  const size_t most = std::min(a.size(), b.size());
  size_t front = 0;
  while (front < most && a[front] == b[front])
    ++front;
  size_t back = 0;
  while (back < most - front && a[a.size() - 1 - back] == b[b.size() - 1 - back])
    ++back;
  std::vector<Edit> edits;
  for (size_t i = 0; i < front; ++i)
    edits.push_back({' ', i, i});
  const auto middle = [&](const auto& v) {
    return std::vector<std::string_view>(v.begin() + static_cast<std::ptrdiff_t>(front),
                                         v.end() - static_cast<std::ptrdiff_t>(back));
  };
  const auto ma = middle(a);
  const auto mb = middle(b);
  for (const Edit& e : Myers(ma, mb).run())
    edits.push_back({e.kind, e.i + front, e.j + front});
  for (size_t i = back; i > 0; --i)
    edits.push_back({' ', a.size() - i, b.size() - i});
  return edits;
}

// Removed lines before added ones within a change, as every diff has them.
void removals_first(std::vector<Edit>& edits) {
  for (auto it = edits.begin(); it != edits.end();) {
    const auto changed = [](const Edit& e) { return e.kind != ' '; };
    it = std::find_if(it, edits.end(), changed);
    const auto last = std::find_if_not(it, edits.end(), changed);
    std::stable_partition(it, last, [](const Edit& e) { return e.kind == '-'; });
    it = last;
  }
}

}  // namespace

std::vector<DiffHunk> diff_hunks(std::string_view before, std::string_view after) {
  const auto a = split_keeping_ends(before);
  const auto b = split_keeping_ends(after);
  std::vector<Edit> edits = line_edits(a, b);
  removals_first(edits);
  std::vector<DiffHunk> hunks;
  for (size_t e = 0; e < edits.size();) {
    if (edits[e].kind == ' ') {
      ++e;
      continue;
    }
    const size_t first = e - std::min(e, kContext);
    size_t last = e;  // past the last changed line of the hunk
    for (size_t i = e; i < edits.size() && i <= last + 2 * kContext; ++i) {
      if (edits[i].kind != ' ') last = i + 1;
    }
    const size_t end = std::min(last + kContext, edits.size());
    DiffHunk hunk{.before_line = edits[first].i, .after_line = edits[first].j};
    for (size_t i = first; i < end; ++i) {
      const Edit& x = edits[i];
      hunk.lines.push_back({x.kind, x.kind == '+' ? b[x.j] : a[x.i], x.i, x.j});
    }
    hunks.push_back(std::move(hunk));
    e = end;
  }
  return hunks;
}

DiffCount count_changes(std::string_view before, std::string_view after) {
  DiffCount count;
  for (const Edit& e : line_edits(split_keeping_ends(before), split_keeping_ends(after))) {
    count.added += e.kind == '+' ? 1 : 0;
    count.removed += e.kind == '-' ? 1 : 0;
  }
  return count;
}

}  // namespace patcher
