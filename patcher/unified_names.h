#pragma once

#include <string>
#include <string_view>

#include "patcher/unified.h"

namespace patcher {

// How diffs spell the names of files.

// git writes odd names as C strings: "a/\303\251.c".
std::string unquoted_name(std::string_view text);
// What stands behind "--- " or "+++ ": a name, and perhaps a tab and a time.
std::string name_behind_mark(std::string_view text);
// "a/x" and "b/x" are x, and so are "old/x" and "new/x"; "x" twice is x. No name for /dev/null.
void strip_name_prefixes(UnifiedFile& f);
// The two names of "diff --git a/x b/x", which are equal where nothing else names the file: `text`
// is what stands behind "diff --git ".
void set_git_names(std::string_view text, UnifiedFile& f);

}  // namespace patcher
