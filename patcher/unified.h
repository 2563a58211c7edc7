#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/patch.h"

namespace patcher {

// Unified diffs and patch mails as other tools write them.

struct UnifiedLine {
  char mark = ' ';          // ' ', '-' or '+'
  std::string text = {};    // without its newline
  bool no_newline = false;  // the text's last line, which does not end in a newline
  int line = 0;             // in the file
};

struct UnifiedHunk {
  size_t before_line = 0;    // as it says, from 1; 0 where the file is empty
  std::string heading = {};  // the section heading behind the second @@
  std::vector<UnifiedLine> lines = {};
  int line = 0;
};

struct UnifiedFile {
  std::string path_before = {};  // empty: a new file
  std::string path_after = {};   // empty: a deleted one
  std::optional<mode_t> mode_before = {};
  std::optional<mode_t> mode_after = {};
  std::vector<UnifiedHunk> hunks = {};
  int line = 0;

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

// Whether the text is a diff or a mail and not a patch file of ours.
bool is_unified(std::string_view text);

// Every line of a diff is read strictly: counts must hold, and what is neither a diff nor a mail's
// end is an error; so are binary changes, copies, links and unsafe paths, by name. An mbox of
// several mails is none patch but several: an error here.
UnifiedPatch parse_unified(std::string_view name, std::string_view text);

// The same of each mail of the text (see mbox.h), which may be one or no mail at all.
std::vector<UnifiedPatch> parse_mails(std::string_view name, std::string_view text);

// The diff as a patch of a series, for a tree without its base: a hunk's context and removed lines
// are its anchor, which must be there once where the section heading says; line numbers do not
// count.
Patch patch_of(std::string_view name, const UnifiedPatch& unified);

}  // namespace patcher
