#include "patcher/text/change_blocks.h"

#include <optional>

#include "patcher/text/line_diff.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using Strings = std::vector<std::string_view>;

constexpr int kBlank = -1;
constexpr size_t kMostBlanks = 20;

int indentation(std::string_view line) {
  int columns = 0;
  for (const char c : line) {
    if (c != ' ' && c != '\t') return columns;
    columns += c == '\t' ? 8 - columns % 8 : 1;
  }
  return kBlank;
}

struct Score {
  int indent = 0;
  int penalty = 0;
};

// How bad it is to begin or end a run before line `at`, by the indentation around, with the weights
// that git's indent heuristic has: so that runs stand where people are used to see them.
void add_split(const Strings& lines, size_t at, Score& score) {
  const bool at_end = at >= lines.size();
  const int own = at_end ? kBlank : indentation(lines[at]);
  int before = kBlank;
  int blanks_before = 0;
  for (size_t i = at; i > 0 && before == kBlank; --i) {
    before = indentation(lines[i - 1]);
    if (before == kBlank && ++blanks_before == static_cast<int>(kMostBlanks)) before = 0;
  }
  int after = kBlank;
  int blanks_after = 0;
  for (size_t i = at + 1; i < lines.size() && after == kBlank; ++i) {
    after = indentation(lines[i]);
    if (after == kBlank && ++blanks_after == static_cast<int>(kMostBlanks)) after = 0;
  }
  if (before == kBlank && blanks_before == 0) score.penalty += 1;
  if (at_end) score.penalty += 21;
  const int post = own == kBlank ? 1 + blanks_after : 0;
  const int blanks = blanks_before + post;
  score.penalty += -30 * blanks + 6 * post;
  const int indent = own != kBlank ? own : after;
  score.indent += indent;
  if (indent == kBlank || before == kBlank || indent == before) return;
  if (indent > before) {
    score.penalty += blanks != 0 ? 10 : -4;
  } else if (after != kBlank && after > indent) {
    score.penalty += blanks != 0 ? 17 : 24;
  } else {
    score.penalty += blanks != 0 ? 17 : 23;
  }
}

bool no_worse(const Score& a, const Score& b) {
  const int indents = (a.indent > b.indent ? 1 : 0) - (a.indent < b.indent ? 1 : 0);
  return 60 * indents + a.penalty - b.penalty <= 0;
}

// How far a run [begin, end) of `lines` can move up and down between `lo` and `hi`.
std::pair<long, long> room(const Strings& lines, size_t begin, size_t end, size_t lo, size_t hi) {
  size_t up = 0;
  size_t down = 0;
  while (begin > lo + up && lines[begin - up - 1] == lines[end - up - 1])
    ++up;
  while (end + down < hi && lines[begin + down] == lines[end + down])
    ++down;
  return {-static_cast<long>(up), static_cast<long>(down)};
}

// The shift at which a run reads best, the later of equals.
long best_shift(const Strings& lines, size_t begin, size_t end, std::pair<long, long> range) {
  long best = range.second;
  std::optional<Score> least_bad;
  for (long shift = range.first; shift <= range.second; ++shift) {
    Score score;
    add_split(lines, static_cast<size_t>(static_cast<long>(begin) + shift), score);
    add_split(lines, static_cast<size_t>(static_cast<long>(end) + shift), score);
    if (least_bad && !no_worse(score, *least_bad)) continue;
    least_bad = score;
    best = shift;
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

// Moves the runs that only add or only remove. One that can move up or down to another run becomes
// one with it.
class Slider {
 public:
  Slider(std::vector<ChangeBlock> blocks, std::string_view before, std::string_view after)
      : blocks_(std::move(blocks)),
        old_lines_(text_lines(before)),
        new_lines_(text_lines(after)),
        old_end_(movable(old_lines_, before)),
        new_end_(movable(new_lines_, after)) {}

  std::vector<ChangeBlock> run() {
    for (size_t i = 0; i < blocks_.size();) {
      if (blocks_[i].inserts() || blocks_[i].deletes()) {
        if (slide(i)) continue;
      }
      ++i;
    }
    return std::move(blocks_);
  }

 private:
  // A last line without a newline is unlike any other line: nothing moves over it.
  static size_t movable(const Strings& lines, std::string_view text) {
    return lines.size() - (text.ends_with('\n') || text.empty() ? 0 : 1);
  }

  // Whether block i became one with a neighbour; i is then the block to look at next.
  bool slide(size_t& i) {
    ChangeBlock& b = blocks_[i];
    const bool adds = b.inserts();
    const Strings& lines = adds ? new_lines_ : old_lines_;
    const size_t begin = adds ? b.after_begin : b.before_begin;
    const size_t end = adds ? b.after_end : b.before_end;
    const bool first = i == 0;
    const bool last = i + 1 == blocks_.size();
    const size_t lo = first ? 0 : adds ? blocks_[i - 1].after_end : blocks_[i - 1].before_end;
    const size_t hi = last   ? (adds ? new_end_ : old_end_)
                      : adds ? blocks_[i + 1].after_begin
                             : blocks_[i + 1].before_begin;
    if (end > hi) return false;
    const auto range = room(lines, begin, end, lo, hi);
    if (!first && begin - static_cast<size_t>(-range.first) == lo) {
      shift(b, range.first);
      blocks_[i - 1].before_end = b.before_end;
      blocks_[i - 1].after_end = b.after_end;
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
      --i;
      return true;
    }
    if (!last && end + static_cast<size_t>(range.second) == hi) {
      shift(b, range.second);
      blocks_[i + 1].before_begin = b.before_begin;
      blocks_[i + 1].after_begin = b.after_begin;
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    shift(b, best_shift(lines, begin, end, range));
    return false;
  }

  std::vector<ChangeBlock> blocks_;
  const Strings old_lines_;
  const Strings new_lines_;
  size_t old_end_;
  size_t new_end_;
};

}  // namespace

std::vector<ChangeBlock> change_blocks(std::string_view before, std::string_view after) {
  return Slider(raw_blocks(before, after), before, after).run();
}

}  // namespace patcher
