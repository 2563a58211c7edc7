#include "patcher/foreign/unified_hunk.h"

#include <fmt/format.h>

#include "patcher/foreign/diff_start.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using std::string;
using std::string_view;

// Adds the line to the hunk; false where its header counts none such.
bool add_line(string_view text, int line, LinesToCome& left, UnifiedHunk& hunk) {
  const bool blank = text.empty() || text == "\r";
  const char mark = blank ? ' ' : text.front();
  if (mark == '\\') {
    if (!hunk.lines.empty()) hunk.lines.back().no_newline = true;
    return true;
  }
  if (!left.take(mark)) return false;
  hunk.lines.push_back({.mark = mark, .text = string(blank ? text : text.substr(1)), .line = line});
  return true;
}

}  // namespace

HunkRead read_hunk(const std::vector<string_view>& lines, size_t at) {
  const auto header = hunk_header(without_cr(lines[at]));
  if (!header) return {.end = at, .fault = "expected `@@ -LINE,COUNT +LINE,COUNT @@`"};
  HunkRead out{.hunk = {.before_line = header->before_line,
                        .after_line = header->after_line,
                        .heading = string(header->heading)}};
  LinesToCome left(*header);
  for (out.end = at + 1; out.end < lines.size(); ++out.end) {
    if (!left.any() && !lines[out.end].starts_with('\\')) break;
    if (add_line(lines[out.end], static_cast<int>(out.end - at), left, out.hunk)) continue;
    out.fault = "the hunk's lines and its counts differ";
    return out;
  }
  if (!left.any()) return out;
  out.end = at;
  out.fault = fmt::format("the hunk ends early: {} old and {} new lines are missing", left.before(),
                          left.after());
  return out;
}

}  // namespace patcher
