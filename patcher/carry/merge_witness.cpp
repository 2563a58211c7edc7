#include "patcher/carry/merge_witness.h"

#include <algorithm>

#include "patcher/carry/outline.h"
#include "patcher/text/line_merge.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

constexpr size_t kFewestOfALine = 3;  // tokens
constexpr size_t kFewestLetters = 6;  // without a grammar

using Lined = std::vector<std::string_view>;

bool same_lines(const Lined& a, size_t a_begin, size_t a_end, const Lined& b, size_t b_begin,
                size_t b_end) {
  return std::equal(a.begin() + static_cast<std::ptrdiff_t>(a_begin),
                    a.begin() + static_cast<std::ptrdiff_t>(a_end),
                    b.begin() + static_cast<std::ptrdiff_t>(b_begin),
                    b.begin() + static_cast<std::ptrdiff_t>(b_end));
}

}  // namespace

MergeWitness::MergeWitness(const TokenIndex& base, std::string_view after, const TokenIndex& target)
    : base_(base), after_(after), target_(target) {
  const std::string& before = base.source().bytes();
  const std::string& there = target.source().bytes();
  merged_ = merge_lines(before, after_, there);
  if (!merged_) return;
  blocks_ = change_blocks(before, after_);
  there_ = change_blocks(there, *merged_);
  const Lined lines = text_lines(before);
  const Lined after_lines = text_lines(after_);
  const Lined there_lines = text_lines(there);
  const Lined merged_lines = text_lines(*merged_);
  const bool all = std::equal(blocks_.begin(), blocks_.end(), there_.begin(), there_.end(),
                              [&](const ChangeBlock& a, const ChangeBlock& b) {
                                return same_lines(lines, a.before_begin, a.before_end, there_lines,
                                                  b.before_begin, b.before_end) &&
                                       same_lines(after_lines, a.after_begin, a.after_end,
                                                  merged_lines, b.after_begin, b.after_end);
                              });
  if (!all) merged_.reset();
}

std::optional<CarriedPlace> MergeWitness::place(const ChangeBlock& block) const {
  if (!merged_) return std::nullopt;
  const auto own = std::find_if(blocks_.begin(), blocks_.end(), [&](const ChangeBlock& b) {
    return b.before_begin == block.before_begin && b.before_end == block.before_end;
  });
  if (own == blocks_.end()) return std::nullopt;
  const ChangeBlock& there = there_[static_cast<size_t>(own - blocks_.begin())];
  CarriedPlace out{.begin = target_.at_line(there.before_begin),
                   .end = target_.at_line(there.before_end)};
  const size_t size = base_.at_line(block.before_end) - base_.at_line(block.before_begin);
  if (out.end - out.begin != size) return std::nullopt;
  return size > 0 || is_beside_its_lines(block, there, out.begin) ? std::optional(out)
                                                                  : std::nullopt;
}

bool MergeWitness::is_beside_its_lines(const ChangeBlock& block, const ChangeBlock& there,
                                       size_t in_target) const {
  const size_t at = base_.at_line(block.before_begin);
  const bool follows = follows_its_lines(at, in_target);
  const bool precedes = precedes_its_lines(at, in_target);
  if (follows && (precedes || ends_a_block(block, at, in_target))) return true;
  const auto blank = [](const Lines& lines, size_t line) {
    return line < lines.count() && is_blank(lines.text(line));
  };
  const Lines& before = base_.source().lines();
  const Lines& now = target_.source().lines();
  const Lines added(after_);
  const bool gap_before = block.before_begin > 0 && blank(before, block.before_begin - 1);
  const bool gap_behind = blank(before, block.before_begin);
  const bool joins = !gap_before && !blank(added, block.after_begin);
  const bool leads = !gap_behind && !blank(added, block.after_end - 1);
  return (follows && joins && gap_behind && blank(now, there.before_begin)) ||
         (precedes && leads && gap_before && there.before_begin > 0 &&
          blank(now, there.before_begin - 1));
}

bool MergeWitness::says_something(size_t begin, size_t end) const {
  return base_.source().language() == Language::kLines ? base_.letters(begin, end) >= kFewestLetters
                                                       : end - begin >= kFewestOfALine;
}

// Whether what the block adds is deeper than what is behind it, in both: it ends a block.
bool MergeWitness::ends_a_block(const ChangeBlock& block, size_t in_base, size_t in_target) const {
  const Lines added(after_);
  size_t line = block.after_begin;
  while (line < block.after_end && is_blank(added.text(line)))
    ++line;
  if (line == block.after_end) return false;
  const auto indent = [](const TokenIndex& file, size_t code) {
    return code < file.size() ? columns(file.source().lines().text(file.line_of(code))) : 0;
  };
  return columns(added.text(line)) > std::max(indent(base_, in_base), indent(target_, in_target));
}

bool MergeWitness::follows_its_lines(size_t in_base, size_t in_target) const {
  while (in_base > 0) {
    size_t size = 1;
    while (size < in_base && base_.line_of(in_base - size - 1) == base_.line_of(in_base - 1))
      ++size;
    if (in_target < size) return false;
    if (base_.run(in_base - size, in_base) != target_.run(in_target - size, in_target))
      return false;
    if (says_something(in_base - size, in_base)) return true;
    in_base -= size;
    in_target -= size;
  }
  return in_target == 0;
}

bool MergeWitness::precedes_its_lines(size_t in_base, size_t in_target) const {
  while (in_base < base_.size()) {
    size_t size = 1;
    while (in_base + size < base_.size() && base_.line_of(in_base + size) == base_.line_of(in_base))
      ++size;
    if (in_target + size > target_.size()) return false;
    if (base_.run(in_base, in_base + size) != target_.run(in_target, in_target + size))
      return false;
    if (says_something(in_base, in_base + size)) return true;
    in_base += size;
    in_target += size;
  }
  return in_target == target_.size();
}

}  // namespace patcher
