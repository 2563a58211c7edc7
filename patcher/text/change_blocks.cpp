#include "patcher/text/change_blocks.h"

#include <git2.h>

#include <algorithm>

#include "patcher/base/error.h"
#include "patcher/base/libgit2.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

// Where there are no lines, libgit2 names the one before.
size_t first_line(int start, int count) {
  return static_cast<size_t>(count == 0 ? start : start - 1);
}

int take_block(const git_diff_delta*, const git_diff_hunk* hunk, void* payload) {
  const size_t before = first_line(hunk->old_start, hunk->old_lines);
  const size_t after = first_line(hunk->new_start, hunk->new_lines);
  static_cast<std::vector<ChangeBlock>*>(payload)->push_back(
      {.before_begin = before,
       .before_end = before + static_cast<size_t>(hunk->old_lines),
       .after_begin = after,
       .after_end = after + static_cast<size_t>(hunk->new_lines)});
  return 0;
}

std::vector<ChangeBlock> blocks_of(std::string_view before, std::string_view after) {
  start_libgit2();
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.context_lines = 0;
  options.interhunk_lines = 0;
  options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_INDENT_HEURISTIC;
  std::vector<ChangeBlock> blocks;
  if (git_diff_buffers(before.data(), before.size(), nullptr, after.data(), after.size(), nullptr,
                       &options, nullptr, nullptr, take_block, nullptr, &blocks) < 0) {
    throw BrokenEnvironment("libgit2 cannot compare two texts");
  }
  return blocks;
}

// The bytes of the whole lines that both texts begin with.
size_t common_begin(std::string_view a, std::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  const auto differs =
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin());
  const auto same = static_cast<size_t>(differs.first - a.begin());
  return a.substr(0, same).rfind('\n') + 1;  // npos + 1 is 0
}

// The bytes of the whole lines that both end with.
size_t common_end(std::string_view a, std::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  const auto differs =
      std::mismatch(a.rbegin(), a.rbegin() + static_cast<std::ptrdiff_t>(most), b.rbegin());
  const auto same = static_cast<size_t>(differs.first - a.rbegin());
  const size_t line_end = a.find('\n', a.size() - same);
  return line_end == std::string_view::npos ? 0 : a.size() - line_end - 1;
}

std::string_view between(std::string_view text, size_t begin, size_t end) {
  return text.substr(begin, text.size() - begin - end);
}

}  // namespace

std::vector<ChangeBlock> change_blocks(std::string_view before, std::string_view after,
                                       Placing placing) {
  if (placing == Placing::kAsGit) return blocks_of(before, after);
  const size_t begin = common_begin(before, after);
  const size_t end = common_end(before.substr(begin), after.substr(begin));
  const auto lines = static_cast<size_t>(
      std::count(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
  auto blocks = blocks_of(between(before, begin, end), between(after, begin, end));
  for (ChangeBlock& b : blocks) {
    for (size_t* edge : {&b.before_begin, &b.before_end, &b.after_begin, &b.after_end})
      *edge += lines;
  }
  return blocks;
}

std::vector<ByteEdit> line_edits(std::string_view before, std::string_view after,
                                 std::span<const ChangeBlock> blocks) {
  const Lines old_lines(before);
  const Lines new_lines(after);
  const auto begin = [](const Lines& lines, size_t line, std::string_view text) {
    return line < lines.count() ? lines.begin(line) : static_cast<uint32_t>(text.size());
  };
  std::vector<ByteEdit> edits;
  for (const ChangeBlock& b : blocks) {
    const uint32_t from = begin(new_lines, b.after_begin, after);
    const uint32_t to = begin(new_lines, b.after_end, after);
    edits.push_back({begin(old_lines, b.before_begin, before),
                     begin(old_lines, b.before_end, before),
                     std::string(after.substr(from, to - from))});
  }
  return edits;
}

}  // namespace patcher
