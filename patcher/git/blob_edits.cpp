#include "patcher/git/blob_edits.h"

#include <string>
#include <string_view>

#include "patcher/text/change_blocks.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

// The byte at which a line begins; the text's end past the last one.
uint32_t line_begin(const Lines& lines, size_t line, size_t size) {
  return line < lines.count() ? lines.begin(line) : static_cast<uint32_t>(size);
}

std::string_view content(const git_blob* blob) {
  return {static_cast<const char*>(git_blob_rawcontent(blob)),
          static_cast<size_t>(git_blob_rawsize(blob))};
}

}  // namespace

std::vector<ByteEdit> edits_between(const git_blob* old_blob, const git_blob* new_blob) {
  const std::string_view before = content(old_blob);
  const std::string_view after = content(new_blob);
  const Lines old_lines(before);
  const Lines new_lines(after);
  std::vector<ByteEdit> edits;
  for (const ChangeBlock& b : change_blocks(before, after, Placing::kAnywhere)) {
    const uint32_t begin = line_begin(new_lines, b.after_begin, after.size());
    const uint32_t end = line_begin(new_lines, b.after_end, after.size());
    edits.push_back({.begin = line_begin(old_lines, b.before_begin, before.size()),
                     .end = line_begin(old_lines, b.before_end, before.size()),
                     .text = std::string(after.substr(begin, end - begin))});
  }
  return edits;
}

}  // namespace patcher
