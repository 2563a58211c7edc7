#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patcher {

// A line of a diff. Borrows its text.
struct DiffLine {
  char kind = ' ';             // ' ' in both, '-' only before, '+' only after
  std::string_view text = {};  // with its line end, if it has one
  size_t before_line = 0;      // from 0; of an added line, the one that follows it
  size_t after_line = 0;       // from 0; of a removed line, the one that follows it
};

// Changed lines with up to three lines of context around them, removed lines before added ones.
struct DiffHunk {
  size_t before_line = 0;  // where it begins in either text, from 0
  size_t after_line = 0;
  std::vector<DiffLine> lines = {};
};

// The hunks of `git diff` between two texts, which the hunks borrow. Empty for equal texts.
std::vector<DiffHunk> diff_hunks(std::string_view before, std::string_view after);

// "@@ -1,5 +1,6 @@", as git has it.
std::string hunk_header(const DiffHunk& hunk);

// The hunk's lines as a unified diff has them, each behind its kind.
std::string hunk_body(const DiffHunk& hunk);

// A file on one side of a diff; without bytes there is none, and the path is the other side's.
struct DiffSide {
  std::string path = {};
  std::optional<std::string_view> bytes = {};
  mode_t mode = 0644;
};

// The lines of a file's diff before its first hunk: "diff --git", modes, a rename, "---" and "+++",
// and with `named` the index line that names the bytes of both sides. A path with control
// characters, quotes or backslashes is quoted as git quotes it.
std::string file_header(const DiffSide& before, const DiffSide& after, bool named = false);

// How many lines a diff adds and removes.
struct DiffCount {
  size_t added = 0;
  size_t removed = 0;
};
DiffCount count_changes(std::string_view before, std::string_view after);

}  // namespace patcher
