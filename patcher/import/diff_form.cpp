#include "patcher/import/diff_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "patcher/base/libgit2.h"
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
  const bool made = file.path_before.empty();
  const bool gone = file.path_after.empty();
  const std::string& before = made ? file.path_after : file.path_before;
  const std::string& after = gone ? file.path_before : file.path_after;
  out += fmt::format("diff --git a/{} b/{}\n", before, after);
  if (made) {
    out += fmt::format("new file mode {}\n", file_mode(file.mode_after));
  } else if (gone) {
    out += fmt::format("deleted file mode {}\n", file_mode(file.mode_before));
  } else if (file_mode(file.mode_before) != file_mode(file.mode_after)) {
    out += fmt::format("old mode {}\nnew mode {}\n", file_mode(file.mode_before),
                       file_mode(file.mode_after));
  }
  if (before != after) out += fmt::format("rename from {}\nrename to {}\n", before, after);
  if (file.before == file.after) return;
  out += fmt::format("index {}..{}\n", made ? std::string(40, '0') : blob_name(file.before),
                     gone ? std::string(40, '0') : blob_name(file.after));
  out += made ? "--- /dev/null\n" : fmt::format("--- a/{}\n", before);
  out += gone ? "+++ /dev/null\n" : fmt::format("+++ b/{}\n", after);
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
