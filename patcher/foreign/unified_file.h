#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "patcher/foreign/unified.h"
#include "patcher/foreign/unified_names.h"
#include "patcher/text/lines.h"

namespace patcher {

// A diff while it is read: its lines, the next of them, and what was wrong with those before.
class DiffLines {
 public:
  // `first` is the number of the diff's first line in the file `name`. Borrows both texts.
  DiffLines(std::string_view name, std::string_view diff, int first);

  bool any() const { return next_ < lines_.size(); }
  bool at(std::string_view start) const { return any() && lines_[next_].starts_with(start); }
  // REQUIRES any(): the next line without its end, that end's carriage return kept in raw(), and
  // the diff from it on.
  std::string_view line() const { return without_cr(lines_[next_]); }
  std::string_view raw() const { return lines_[next_]; }
  std::string_view rest() const;
  void skip() { ++next_; }
  // The number in the file of the next line.
  int number() const { return first_ + static_cast<int>(next_); }

  void fail(int line, std::string message, Verdict verdict = Verdict::kMalformed);
  bool failed() const { return !errors.empty(); }
  std::vector<Finding> errors = {};

 private:
  std::string_view name_;
  std::string_view diff_;
  int first_;
  std::vector<std::string_view> lines_;
  size_t next_ = 0;
};

// Reads the file's section that begins here, by "diff --git" or "--- ", with its hunks, whose lines
// must be as many as their headers count, and adds it to `files`.
void read_file(DiffLines& in, NamePrefixes& prefixes, std::vector<UnifiedFile>& files);

// Reads the section `Property changes on: PATH` of a diff that SVN wrote. Properties that change
// what is in a tree (svn:executable, svn:special, svn:externals) are refused by name; the others
// are notes that SVN keeps for itself, and nothing of them could stand in a tree.
void read_properties(DiffLines& in);

}  // namespace patcher
