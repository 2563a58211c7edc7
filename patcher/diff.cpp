#include "patcher/diff.h"

#include <fmt/format.h>

#include <algorithm>

namespace patcher {
namespace {

constexpr size_t kContext = 3;

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

// Line i of `before` removed, or line j of `after` added, or both kept.
struct Edit {
  char kind;
  size_t i;
  size_t j;
};

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

void put_line(std::string& out, char kind, std::string_view line) {
  out += kind;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

std::string range(size_t begin, size_t count) {
  const size_t first = count == 0 ? begin : begin + 1;
  return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
}

std::string_view bytes_of(const FileState& state) {
  return state.exists() ? std::string_view(state.source->bytes()) : std::string_view();
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

std::string mode_of(const FileState& state) {
  return state.mode & 0111 ? "100755" : "100644";
}

}  // namespace

std::string unified_hunks(std::string_view before, std::string_view after) {
  const auto a = split_keeping_ends(before);
  const auto b = split_keeping_ends(after);
  std::vector<Edit> edits = line_edits(a, b);
  removals_first(edits);
  std::string out;
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
    std::string body;
    size_t in_a = 0;
    size_t in_b = 0;
    size_t a_begin = 0;
    size_t b_begin = 0;
    for (size_t i = 0; i < first; ++i) {
      a_begin += edits[i].kind != '+' ? 1 : 0;
      b_begin += edits[i].kind != '-' ? 1 : 0;
    }
    for (size_t i = first; i < end; ++i) {
      in_a += edits[i].kind != '+' ? 1 : 0;
      in_b += edits[i].kind != '-' ? 1 : 0;
      put_line(body, edits[i].kind, edits[i].kind == '+' ? b[edits[i].j] : a[edits[i].i]);
    }
    out += fmt::format("@@ -{} +{} @@\n{}", range(a_begin, in_a), range(b_begin, in_b), body);
    e = end;
  }
  return out;
}

DiffCount count_changes(std::string_view before, std::string_view after) {
  DiffCount count;
  for (const Edit& e : line_edits(split_keeping_ends(before), split_keeping_ends(after))) {
    count.added += e.kind == '+' ? 1 : 0;
    count.removed += e.kind == '-' ? 1 : 0;
  }
  return count;
}

std::string file_diff(const std::string& path, const FileState& before, const FileState& after) {
  if (same_state(before, after)) return {};
  std::string out = fmt::format("diff --git a/{0} b/{0}\n", path);
  if (!before.exists()) {
    out += fmt::format("new file mode {}\n", mode_of(after));
  } else if (!after.exists()) {
    out += fmt::format("deleted file mode {}\n", mode_of(before));
  } else if (mode_of(before) != mode_of(after)) {
    out += fmt::format("old mode {}\nnew mode {}\n", mode_of(before), mode_of(after));
  }
  if (bytes_of(before) == bytes_of(after)) return out;
  out += fmt::format("--- {}\n", before.exists() ? "a/" + path : "/dev/null");
  out += fmt::format("+++ {}\n", after.exists() ? "b/" + path : "/dev/null");
  return out + unified_hunks(bytes_of(before), bytes_of(after));
}

std::string patch_diff(const PatchPlan& patch) {
  std::string out;
  for (const std::string& path : patch.paths) {
    out += file_diff(path, patch.before.get(path), patch.after.get(path));
  }
  return out;
}

DiffCount patch_count(const PatchPlan& patch) {
  DiffCount total;
  for (const std::string& path : patch.paths) {
    const FileState before = patch.before.get(path);
    const FileState after = patch.after.get(path);
    if (before.source == after.source) continue;
    const DiffCount one = count_changes(bytes_of(before), bytes_of(after));
    total.added += one.added;
    total.removed += one.removed;
  }
  return total;
}

std::string patch_stat(const PatchPlan& patch) {
  std::string out;
  for (const std::string& path : patch.paths) {
    const FileState before = patch.before.get(path);
    const FileState after = patch.after.get(path);
    if (same_state(before, after)) continue;
    const DiffCount n = count_changes(bytes_of(before), bytes_of(after));
    const char* what = !before.exists() ? " (new)" : !after.exists() ? " (deleted)" : "";
    out += fmt::format(" {:<40} | +{:<4} -{}{}\n", path, n.added, n.removed, what);
  }
  return out;
}

}  // namespace patcher
