#include "patcher/text/line_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/text/change_blocks.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

constexpr size_t kContext = 3;

// Builds the hunks out of the blocks; lines are copied from where they stand.
class HunkBuilder {
 public:
  HunkBuilder(std::string_view before, std::string_view after)
      : before_(before), after_(after), old_(before), new_(after) {}

  void add(const ChangeBlock& block) {
    const bool joins = !hunks_.empty() && block.before_begin <= old_at_ + 2 * kContext;
    if (!joins) {
      close();
      const size_t context = std::min(kContext, block.before_begin);
      old_at_ = block.before_begin - context;
      new_at_ = block.after_begin - context;
      hunks_.push_back({.before_line = old_at_, .after_line = new_at_});
    }
    keep(block.before_begin - old_at_);
    for (; old_at_ < block.before_end; ++old_at_)
      put('-', before_, old_, old_at_);
    for (; new_at_ < block.after_end; ++new_at_)
      put('+', after_, new_, new_at_);
  }

  std::vector<DiffHunk> take() {
    close();
    return std::move(hunks_);
  }

 private:
  void close() {
    const size_t left = before_.empty() ? 0 : old_.count() - old_at_;
    if (!hunks_.empty()) keep(std::min(kContext, left));
  }

  void keep(size_t count) {
    for (; count > 0; --count, ++old_at_, ++new_at_)
      put(' ', before_, old_, old_at_);
  }

  void put(char kind, std::string_view text, const Lines& lines, size_t line) {
    const auto whole = text.substr(lines.begin(line), lines.end(line) - lines.begin(line));
    hunks_.back().lines.push_back({kind, whole, old_at_, new_at_});
  }

  std::string_view before_;
  std::string_view after_;
  const Lines old_;
  const Lines new_;
  size_t old_at_ = 0;  // the line of either text that follows what the last hunk has
  size_t new_at_ = 0;
  std::vector<DiffHunk> hunks_;
};

}  // namespace

std::vector<DiffHunk> diff_hunks(std::string_view before, std::string_view after) {
  HunkBuilder builder(before, after);
  for (const ChangeBlock& block : change_blocks(before, after))
    builder.add(block);
  return builder.take();
}

std::string hunk_header(const DiffHunk& hunk) {
  const auto range = [&](size_t begin, char other) {
    const auto count = std::count_if(hunk.lines.begin(), hunk.lines.end(),
                                     [&](const DiffLine& l) { return l.kind != other; });
    const size_t first = count == 0 ? begin : begin + 1;
    return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
  };
  return fmt::format("@@ -{} +{} @@", range(hunk.before_line, '+'), range(hunk.after_line, '-'));
}

std::string hunk_body(const DiffHunk& hunk) {
  std::string out;
  for (const DiffLine& line : hunk.lines) {
    out += line.kind;
    out += line.text;
    if (!line.text.ends_with('\n')) out += "\n\\ No newline at end of file\n";
  }
  return out;
}

DiffCount count_changes(std::string_view before, std::string_view after) {
  DiffCount count;
  for (const ChangeBlock& block : change_blocks(before, after, Placing::kAnywhere)) {
    count.added += block.after_end - block.after_begin;
    count.removed += block.before_end - block.before_begin;
  }
  return count;
}

}  // namespace patcher
