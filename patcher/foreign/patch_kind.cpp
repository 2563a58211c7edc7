// is_unified: a foreign diff or mail, or a patch file of ours.
#include <algorithm>

#include "patcher/foreign/diff_start.h"
#include "patcher/foreign/mail.h"
#include "patcher/foreign/unified.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using std::string_view;

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
