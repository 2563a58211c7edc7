#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "patcher/foreign/unified.h"

namespace patcher {

// How diffs spell the names of files.

// git writes odd names as C strings: "a/\303\251.c".
std::string unquoted_name(std::string_view text);

// What stands behind "--- " or "+++ ": a name, and perhaps a tab and a time.
struct MarkedName {
  std::string path = {};
  bool absent = false;  // the time says that there is no such file: 1970 began, "(nonexistent)"
};
MarkedName name_behind_mark(std::string_view text);

// The components that the names of a diff's files have before the tree's own. Where no number is
// given the names say it: "a/x" and "b/x" are x, and so are "old/x" and "new/x"; "x" twice is x,
// and so is "./x".
class NamePrefixes {
 public:
  explicit NamePrefixes(std::optional<size_t> count) : count_(count) {}

  // Takes the components off the file's two names; the name /dev/null becomes empty, as of no file.
  // Gives false where a name has too few components, or nothing of it is left.
  bool strip(UnifiedFile& f);
  // A name beside /dev/null says nothing alone: it has the prefix that other files' names had, or
  // none if theirs had none. Gives false where nothing says which.
  bool settle_lone_name(UnifiedFile& f) const;
  // The file's name is known from elsewhere.
  void forget_lone_name(const UnifiedFile& f) { lone_.erase(f.line); }

 private:
  std::optional<size_t> count_;
  std::set<std::string> stripped_;
  bool kept_ = false;   // two names of a file had no prefix
  std::set<int> lone_;  // lines of the files with one name that kept its prefix
};

// The two names of "diff --git a/x b/x", which are equal where nothing else names the file: `text`
// is what stands behind "diff --git ".
void set_git_names(std::string_view text, UnifiedFile& f);

// diff -N names a file that is not there, with the time when the clock began: takes away the name
// of a side that is `absent` and empty. Where nothing says so, a file that begins empty may be new.
struct AbsentSides {
  bool before = false;
  bool after = false;
};
void settle_existence(UnifiedFile& f, const AbsentSides& absent);

// A plain diff cannot rename: it compares two files and changes one. Of "x.cpp.orig" and "x.cpp"
// that is the shorter; gives false where the names differ in another way.
bool settle_name(UnifiedFile& f);

}  // namespace patcher
