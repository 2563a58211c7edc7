#include "patcher/git/blob_edits.h"

#include <string>
#include <string_view>

#include "patcher/text/lines.h"

namespace patcher {
namespace {

struct LineHunk {
  size_t old_first = 0;  // from 0
  size_t old_count = 0;
  size_t new_first = 0;
  size_t new_count = 0;
};

// Where there are no lines, libgit2 names the one before.
size_t first_line(int start, int count) {
  return static_cast<size_t>(count == 0 ? start : start - 1);
}

int take_hunk(const git_diff_delta*, const git_diff_hunk* hunk, void* payload) {
  static_cast<std::vector<LineHunk>*>(payload)->push_back(
      {.old_first = first_line(hunk->old_start, hunk->old_lines),
       .old_count = static_cast<size_t>(hunk->old_lines),
       .new_first = first_line(hunk->new_start, hunk->new_lines),
       .new_count = static_cast<size_t>(hunk->new_lines)});
  return 0;
}

// The byte at which a line begins; the text's end past the last one.
uint32_t line_begin(const Lines& lines, size_t line, size_t size) {
  return line < lines.count() ? lines.begin(line) : static_cast<uint32_t>(size);
}

std::string_view content(const git_blob* blob) {
  return {static_cast<const char*>(git_blob_rawcontent(blob)),
          static_cast<size_t>(git_blob_rawsize(blob))};
}

}  // namespace

std::optional<std::vector<ByteEdit>> edits_between(const git_blob* old_blob,
                                                   const git_blob* new_blob) {
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.context_lines = 0;
  options.flags = GIT_DIFF_FORCE_TEXT;
  std::vector<LineHunk> hunks;
  if (git_diff_blobs(old_blob, nullptr, new_blob, nullptr, &options, nullptr, nullptr, take_hunk,
                     nullptr, &hunks) < 0) {
    return std::nullopt;
  }
  const std::string_view before = content(old_blob);
  const std::string_view after = content(new_blob);
  const Lines old_lines(before);
  const Lines new_lines(after);
  std::vector<ByteEdit> edits;
  for (const LineHunk& h : hunks) {
    const uint32_t begin = line_begin(new_lines, h.new_first, after.size());
    const uint32_t end = line_begin(new_lines, h.new_first + h.new_count, after.size());
    edits.push_back({.begin = line_begin(old_lines, h.old_first, before.size()),
                     .end = line_begin(old_lines, h.old_first + h.old_count, before.size()),
                     .text = std::string(after.substr(begin, end - begin))});
  }
  if (apply_edits(before, edits) != after) return std::nullopt;
  return edits;
}

}  // namespace patcher
