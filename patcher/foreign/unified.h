#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/patch/patch.h"

namespace patcher {

// Unified diffs and patch mails as other tools write them.

struct UnifiedLine {
  char mark = ' ';          // ' ', '-' or '+'
  std::string text = {};    // without its newline
  bool no_newline = false;  // the text's last line, which does not end in a newline
  int line = 0;             // in the file
};

struct UnifiedHunk {
  size_t before_line = 0;  // as it says, from 1; 0 where the file is empty
  size_t after_line = 0;
  std::string heading = {};  // the section heading behind the second @@
  std::vector<UnifiedLine> lines = {};
  int line = 0;
};

struct UnifiedFile {
  std::string path_before = {};  // empty: a new file
  std::string path_after = {};   // empty: a deleted one
  std::optional<mode_t> mode_before = {};
  std::optional<mode_t> mode_after = {};
  std::string blob_before = {};  // the beginnings of git's names for the bytes
  std::string blob_after = {};
  std::vector<UnifiedHunk> hunks = {};
  int line = 0;
  bool may_be_new = false;  // it is new or was empty, the diff does not say which

  // The lines of one side (' ' and `mark`), with their newlines.
  std::string side(char mark) const;
};

struct UnifiedPatch {
  std::string subject = {};
  std::string why = {};
  std::vector<UnifiedFile> files = {};
  std::vector<Finding> errors = {};
  int line = 1;  // where its mail begins
};

// Whether the text is a diff or a mail and not a patch file of ours, whose hunks have no line
// numbers.
bool is_unified(std::string_view text);

// Every line of a diff is read strictly: counts must hold, and what is neither a diff nor a mail's
// end is an error. So is, by name, what a diff leaves out or cannot hold here: binary changes,
// "Only in", copies, links, properties of SVN's that change a tree, a plain diff of two names, and
// unsafe paths. A mail without the line `---` has one run of files: what stands before a gap may
// be its message's. An mbox of several mails is no patch but several: an error here.
//
// `strip` is how many leading components the names have before the tree's own; without it the
// names say it (see unified_names.h).
UnifiedPatch parse_unified(std::string_view name, std::string_view text,
                           std::optional<size_t> strip = {});

// The patch of each mail of the text (see split_mails()), in order. A text without a mail is one
// diff.
std::vector<UnifiedPatch> parse_mails(std::string_view name, std::string_view text);

// The diff as a patch of a series, for a tree without its base: a hunk's context and removed lines
// are its anchor, which must be there once where the section heading says; line numbers count only
// in the file that the diff was taken from (see verbatim.h).
Patch patch_of(std::string_view name, const UnifiedPatch& unified);

}  // namespace patcher
