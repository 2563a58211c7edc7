#include "patcher/foreign/diff_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "patcher/foreign/mail.h"
#include "patcher/foreign/unified.h"
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

// A file operation of ours, which no diff knows.
bool is_operation(string_view line) {
  if (line.find(" -> ") == string_view::npos) return line.starts_with("delete: ");
  const string_view key = line.substr(0, line.find(':'));
  return key == "install" || key == "delete" || key == "rename" || key == "mode" ||
         key == "newline";
}

bool any_line(string_view text, bool (*holds)(string_view)) {
  const auto lines = text_lines(text);
  return std::any_of(lines.begin(), lines.end(), holds);
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

bool HunkHeader::take(char mark) {
  const bool old_line = mark == ' ' || mark == '-';
  const bool new_line = mark == ' ' || mark == '+';
  if (!(old_line || new_line) || (old_line && before == 0) || (new_line && after == 0))
    return false;
  before -= old_line ? 1 : 0;
  after -= new_line ? 1 : 0;
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
  auto left = hunk_header(first_line(text));
  while (left && left->any()) {
    text = behind_line(text);
    if (text.empty()) return false;
    const char mark = trim(first_line(text), "\r\n").empty() ? ' ' : text.front();
    if (!left->take(mark) && mark != '\\') return false;
  }
  return left.has_value();
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

bool is_unified(string_view text) {
  text = without_bom(text);
  if (text.starts_with("From ") || text.starts_with("diff ") || text.starts_with("Index: ") ||
      is_mail(text)) {
    return true;
  }
  for (string_view rest = text; !rest.empty();) {
    const string_view line = first_line(rest);
    if (is_operation(line)) return false;
    if (starts_git_file(rest)) return true;
    rest.remove_prefix(line.size());
    // Behind the marks' lines the hunk says it: ours has no line numbers.
    if (line.starts_with("--- ") && rest.starts_with("+++ ")) {
      const string_view hunk = rest.substr(first_line(rest).size());
      if (hunk.starts_with("@@")) return hunk.starts_with("@@ -");
    }
  }
  return any_line(text, [](string_view line) { return line.starts_with("@@ -"); }) ||
         any_line(text, [](string_view line) { return !lost_change(line).empty(); });
}

}  // namespace patcher
