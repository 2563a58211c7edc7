#include "patcher/import/diff_form.h"

#include <algorithm>
#include <cctype>

#include "patcher/patch/patch_text.h"
#include "patcher/text/line_diff.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

constexpr size_t kLongestHeading = 80;

// The last line before the hunk that looks like a function's first.
std::string heading(const Lines& lines, size_t before_line) {
  for (size_t l = std::min(before_line, lines.count()); l > 0; --l) {
    const std::string_view line = lines.text(l - 1);
    const auto c = static_cast<unsigned char>(line.empty() ? ' ' : line.front());
    if (std::isalpha(c) == 0 && c != '_' && c != '$') continue;
    const std::string_view cut = without_cr(line).substr(0, kLongestHeading);
    return " " + std::string(cut.substr(0, cut.find_last_not_of(" \t") + 1));
  }
  return "";
}

void add_file(const FileVersions& file, std::string& out) {
  DiffSide before{.path = file.path_before, .bytes = file.before, .mode = file.mode_before};
  DiffSide after{.path = file.path_after, .bytes = file.after, .mode = file.mode_after};
  if (file.path_before.empty()) before = {.path = file.path_after};
  if (file.path_after.empty()) after = {.path = file.path_before};
  out += file_header(before, after, /*named=*/true);
  const Lines lines(file.before);
  for (const DiffHunk& hunk : diff_hunks(file.before, file.after))
    out += hunk_header(hunk) + heading(lines, hunk.before_line) + "\n" + hunk_body(hunk);
}

}  // namespace

std::string diff_form(const SourceChange& change) {
  Patch patch{.name = change.name, .subject = change.subject, .why = change.why};
  if (patch.why.empty()) patch.why = patch.subject;
  std::string out = patch_text(patch) + "\n";
  for (const FileVersions& file : change.files)
    add_file(file, out);
  return out;
}

}  // namespace patcher
