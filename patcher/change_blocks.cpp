#include "patcher/change_blocks.h"

#include <algorithm>
#include <tuple>

#include "patcher/indentation.h"
#include "patcher/line_diff.h"

namespace patcher {
namespace {

using Strings = std::vector<std::string_view>;

// How little a run of lines reads as one thing: smaller is better.
std::tuple<bool, bool, size_t, bool> oddness(const Strings& lines, size_t begin, size_t end) {
  int depth = 0;
  int lowest = 0;
  size_t indentation = 0;
  bool first = true;
  for (size_t i = begin; i < end; ++i) {
    const size_t blanks = leading_blanks(lines[i]).size();
    if (blanks == lines[i].size()) continue;
    if (first) indentation = blanks;
    first = false;
    for (const char c : lines[i]) {
      depth += c == '{' || c == '(' ? 1 : c == '}' || c == ')' ? -1 : 0;
      lowest = std::min(lowest, depth);
    }
  }
  const bool starts_blank = leading_blanks(lines[begin]).size() == lines[begin].size();
  return {lowest < 0, depth != 0, indentation, starts_blank};
}

// Moves a run [begin, end) of `lines` between `lo` and `hi` to where it reads best; gives the
// shift.
long best_shift(const Strings& lines, size_t begin, size_t end, size_t lo, size_t hi) {
  long best = 0;
  auto least = oddness(lines, begin, end);
  const auto consider = [&](long shift) {
    const auto at = static_cast<size_t>(static_cast<long>(begin) + shift);
    const auto odd = oddness(lines, at, at + (end - begin));
    if (odd < least) std::tie(best, least) = std::pair(shift, odd);
  };
  for (long s = 1; end + static_cast<size_t>(s) <= hi; ++s) {
    if (lines[begin + static_cast<size_t>(s) - 1] != lines[end + static_cast<size_t>(s) - 1]) break;
    consider(s);
  }
  for (long s = 1; begin >= lo + static_cast<size_t>(s); ++s) {
    if (lines[begin - static_cast<size_t>(s)] != lines[end - static_cast<size_t>(s)]) break;
    consider(-s);
  }
  return best;
}

std::vector<ChangeBlock> raw_blocks(std::string_view before, std::string_view after) {
  std::vector<ChangeBlock> out;
  for (const DiffHunk& hunk : diff_hunks(before, after)) {
    bool open = false;
    for (const DiffLine& line : hunk.lines) {
      if (line.kind == ' ') {
        open = false;
        continue;
      }
      if (!open) {
        out.push_back({line.before_line, line.before_line, line.after_line, line.after_line});
      }
      open = true;
      (line.kind == '-' ? out.back().before_end : out.back().after_end) += 1;
    }
  }
  return out;
}

void shift(ChangeBlock& b, long by) {
  for (size_t* edge : {&b.before_begin, &b.before_end, &b.after_begin, &b.after_end})
    *edge = static_cast<size_t>(static_cast<long>(*edge) + by);
}

}  // namespace

std::vector<std::string_view> text_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::vector<ChangeBlock> change_blocks(std::string_view before, std::string_view after) {
  std::vector<ChangeBlock> blocks = raw_blocks(before, after);
  const Strings old_lines = text_lines(before);
  const Strings new_lines = text_lines(after);
  // A last line without a newline is unlike any other line: nothing moves over it.
  const size_t old_end = old_lines.size() - (before.ends_with('\n') || before.empty() ? 0 : 1);
  const size_t new_end = new_lines.size() - (after.ends_with('\n') || after.empty() ? 0 : 1);
  for (size_t i = 0; i < blocks.size(); ++i) {
    ChangeBlock& b = blocks[i];
    const bool last = i + 1 == blocks.size();
    if (b.inserts()) {
      const size_t lo = i == 0 ? 0 : blocks[i - 1].after_end + 1;
      const size_t hi = last ? new_end : blocks[i + 1].after_begin - 1;
      shift(b, best_shift(new_lines, b.after_begin, b.after_end, lo, hi));
    } else if (b.deletes()) {
      const size_t lo = i == 0 ? 0 : blocks[i - 1].before_end + 1;
      const size_t hi = last ? old_end : blocks[i + 1].before_begin - 1;
      shift(b, best_shift(old_lines, b.before_begin, b.before_end, lo, hi));
    }
  }
  return blocks;
}

}  // namespace patcher
