#include "patcher/foreign/diff_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "patcher/text/lines.h"

namespace patcher {
namespace {

using std::string_view;

bool take(string_view& text, string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_number(string_view& text, size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// "N" or "N,COUNT".
bool take_range(string_view& text, size_t& first, size_t& count) {
  count = 1;
  if (!take_number(text, first)) return false;
  return !take(text, ",") || take_number(text, count);
}

bool holds(string_view text, string_view words) {
  return text.find(words) != string_view::npos;
}

string_view behind_line(string_view text) {
  return text.substr(first_line(text).size());
}

bool starts_context_diff(string_view text) {
  if (!take(text, "*** ")) return false;
  text = behind_line(text);
  return text.starts_with("--- ") && behind_line(text).starts_with("***************");
}

}  // namespace

std::optional<HunkHeader> hunk_header(string_view line) {
  HunkHeader h;
  const bool good = take(line, "@@ -") && take_range(line, h.before_line, h.before) &&
                    take(line, " +") && take_range(line, h.after_line, h.after) &&
                    take(line, " @@");
  if (!good) return std::nullopt;
  take(line, " ");
  h.heading = line;
  return h;
}

bool LinesToCome::take(char mark) {
  const bool old_line = mark == ' ' || mark == '-';
  const bool new_line = mark == ' ' || mark == '+';
  if (!(old_line || new_line) || (old_line && before_ == 0) || (new_line && after_ == 0))
    return false;
  before_ -= old_line ? 1 : 0;
  after_ -= new_line ? 1 : 0;
  return true;
}

string_view first_line(string_view text) {
  return text.empty() ? text : text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
}

bool starts_git_file(string_view text) {
  return text.starts_with("diff --git ");
}

bool starts_plain_file(string_view text) {
  if (!text.starts_with("--- ")) return false;
  text = behind_line(text);
  return text.starts_with("+++ ") && behind_line(text).starts_with("@@");
}

bool starts_hunk(string_view text) {
  const auto header = hunk_header(first_line(text));
  if (!header) return false;
  for (LinesToCome left(*header); left.any();) {
    text = behind_line(text);
    if (text.empty()) return false;
    const char mark = trim(first_line(text), "\r\n").empty() ? ' ' : text.front();
    if (!left.take(mark) && mark != '\\') return false;
  }
  return true;
}

bool starts_diff(string_view text) {
  if (text.empty() || string_view("-d@*IPBFOC").find(text.front()) == string_view::npos) {
    return false;
  }
  if (starts_git_file(text) || starts_plain_file(text) || starts_context_diff(text)) return true;
  const string_view line = first_line(text);
  const string_view next = text.substr(line.size());
  if (line.starts_with("Index: ")) return next.starts_with("====");
  if (line.starts_with("diff -")) {
    return starts_plain_file(next) || !lost_change(first_line(next)).empty();
  }
  return starts_hunk(text) || line.starts_with("Property changes on: ") ||
         !lost_change(line).empty();
}

std::string lost_change(string_view line) {
  line = trim(line, " \t\r\n");
  const bool differ = line.ends_with(" differ") && holds(line, " and ");
  if (differ && line.starts_with("Binary files ")) {
    return fmt::format("a binary file's change is not in the diff: `{}`", line);
  }
  const bool kinds = line.starts_with("File ") && holds(line, " while file ");
  if (kinds || (differ && line.starts_with("Files "))) {
    return fmt::format("the change is not in the diff: `{}`", line);
  }
  if (line.starts_with("Only in ") && holds(line, ": ")) {
    return fmt::format("the file is not in the diff: `{}`; `diff -N` would put it there", line);
  }
  if (line.starts_with("Cannot display: file marked as a binary type")) {
    return "a binary file's change is not in the diff";
  }
  return {};
}

}  // namespace patcher
