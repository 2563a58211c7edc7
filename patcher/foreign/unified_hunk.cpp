#include "patcher/foreign/unified_hunk.h"

#include <fmt/format.h>

#include "patcher/foreign/diff_start.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using std::string;
using std::string_view;

class HunkReader {
 public:
  HunkReader(const std::vector<string_view>& lines, size_t at)
      : lines_(lines), begin_(at), out_{.end = at} {}

  HunkRead run() {
    const auto header = hunk_header(without_cr(lines_[begin_]));
    if (!header) return fault("expected `@@ -LINE,COUNT +LINE,COUNT @@`");
    out_.hunk.before_line = header->before_line;
    out_.hunk.after_line = header->after_line;
    out_.hunk.heading = header->heading;
    before_ = header->before;
    after_ = header->after;
    for (++out_.end; out_.end < lines_.size() && goes_on(); ++out_.end) {
      if (!body_line(lines_[out_.end])) return fault("the hunk's lines and its counts differ");
    }
    if (before_ == 0 && after_ == 0) return std::move(out_);
    out_.end = begin_;
    return fault(
        fmt::format("the hunk ends early: {} old and {} new lines are missing", before_, after_));
  }

 private:
  HunkRead fault(string why) {
    out_.fault = std::move(why);
    return std::move(out_);
  }

  bool goes_on() const { return before_ > 0 || after_ > 0 || lines_[out_.end].starts_with('\\'); }

  bool body_line(string_view text) {
    const bool blank = text.empty() || text == "\r";
    const char mark = blank ? ' ' : text.front();
    if (mark == '\\') {
      if (!out_.hunk.lines.empty()) out_.hunk.lines.back().no_newline = true;
      return true;
    }
    const bool known = mark == ' ' || mark == '-' || mark == '+';
    if (!known || (mark != '+' && before_ == 0) || (mark != '-' && after_ == 0)) return false;
    before_ -= mark != '+' ? 1 : 0;
    after_ -= mark != '-' ? 1 : 0;
    out_.hunk.lines.push_back({.mark = mark,
                               .text = string(blank ? text : text.substr(1)),
                               .line = static_cast<int>(out_.end - begin_)});
    return true;
  }

  const std::vector<string_view>& lines_;
  const size_t begin_;
  HunkRead out_;
  size_t before_ = 0;  // lines that are still to come
  size_t after_ = 0;
};

}  // namespace

HunkRead read_hunk(const std::vector<string_view>& lines, size_t at) {
  return HunkReader(lines, at).run();
}

}  // namespace patcher
