#include "patcher/foreign/unified_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "patcher/foreign/diff_start.h"

namespace patcher {
namespace {

using std::string;
using std::string_view;

// --- a git file's header

mode_t mode(string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 8);
  return value;
}

void take_index(string_view line, UnifiedFile& f) {
  const size_t dots = line.find("..");
  if (dots == line.npos) return;
  f.blob_before = line.substr(0, dots);
  const size_t blank = std::min(line.find(' ', dots), line.size());
  f.blob_after = line.substr(dots + 2, blank - dots - 2);
  // A mode that stays is told here; of a file it says nothing that the tree does not.
  const mode_t kept = mode(line.substr(std::min(blank + 1, line.size())));
  if (kept != 0 && !S_ISREG(kept)) f.mode_before = f.mode_after = kept;
}

// Puts what the line says into `f`: a mode, a name, that there is no file before or after. `named`:
// it says the files' names; those of other lines do not count. Gives false for a line that is none
// of the header, and for one by which the file is refused.
bool take_git_header(DiffLines& in, UnifiedFile& f, bool& named) {
  string_view line = in.line();
  const auto take = [&](string_view prefix) {
    if (!line.starts_with(prefix)) return false;
    line.remove_prefix(prefix.size());
    return true;
  };
  if (take("rename from ")) {
    f.path_before = unquoted_name(line);
  } else if (take("rename to ")) {
    f.path_after = unquoted_name(line);
  } else if (take("new file mode ")) {
    f.mode_after = mode(line);
    f.path_before.clear();
  } else if (take("deleted file mode ")) {
    f.mode_before = mode(line);
    f.path_after.clear();
  } else {
    if (take("GIT binary patch") || take("Binary files ")) {
      const string& name = f.path_after.empty() ? f.path_before : f.path_after;
      in.fail(in.number(), fmt::format("`{}` is binary", name));
      return false;
    }
    if (take("copy from ")) {
      in.fail(in.number(), fmt::format("`{}` is copied, which is not supported", line));
      return false;
    }
    if (take("old mode ")) {
      f.mode_before = mode(line);
    } else if (take("new mode ")) {
      f.mode_after = mode(line);
    } else if (take("index ")) {
      take_index(line, f);
    } else {
      return take("similarity index ") || take("dissimilarity index ");
    }
    return true;
  }
  named = true;
  return true;
}

// --- hunks

// Adds the line to the hunk; false where its header counts none such.
bool add_line(string_view text, int line, HunkHeader& left, UnifiedHunk& hunk) {
  const bool blank = text.empty() || text == "\r";
  const char mark = blank ? ' ' : text.front();
  if (mark == '\\') {
    if (!hunk.lines.empty()) hunk.lines.back().no_newline = true;
    return true;
  }
  if (!left.take(mark)) return false;
  hunk.lines.push_back({.mark = mark, .text = string(blank ? text : text.substr(1)), .line = line});
  return true;
}

void read_hunk(DiffLines& in, UnifiedFile& f) {
  auto header = hunk_header(in.line());
  if (!header) return in.fail(in.number(), "expected `@@ -LINE,COUNT +LINE,COUNT @@`");
  UnifiedHunk hunk{.before_line = header->before_line,
                   .after_line = header->after_line,
                   .heading = string(header->heading),
                   .line = in.number()};
  for (in.skip(); in.any() && (header->any() || in.at("\\")); in.skip()) {
    if (add_line(in.raw(), in.number(), *header, hunk)) continue;
    return in.fail(in.number(), "the hunk's lines and its counts differ");
  }
  if (header->any()) {
    return in.fail(hunk.line,
                   fmt::format("the hunk ends early: {} old and {} new lines are missing",
                               header->before, header->after));
  }
  f.hunks.push_back(std::move(hunk));
}

void read_hunks(DiffLines& in, UnifiedFile& f) {
  while (in.at("@@ ") && !in.failed())
    read_hunk(in, f);
}

// --- names

void no_name(DiffLines& in, const UnifiedFile& f) {
  in.fail(f.line, "the file's name cannot be told: it is empty, or too short for -p");
}

void two_names(DiffLines& in, const UnifiedFile& f) {
  in.fail(f.line, fmt::format("names two files, `{}` and `{}`: which one does it change?",
                              f.path_before, f.path_after));
}

// The lines "--- path" and "+++ path".
AbsentSides read_names(DiffLines& in, NamePrefixes& prefixes, UnifiedFile& f) {
  AbsentSides absent;
  for (const auto& [mark, path, missing] : {std::tuple{"--- ", &f.path_before, &absent.before},
                                            std::tuple{"+++ ", &f.path_after, &absent.after}}) {
    if (!in.at(mark)) {
      in.fail(in.number(), fmt::format("expected `{}path`", mark));
      return absent;
    }
    MarkedName name = name_behind_mark(in.line().substr(4));
    *path = std::move(name.path);
    *missing = name.absent;
    in.skip();
  }
  if (!prefixes.strip(f)) no_name(in, f);
  return absent;
}

// --- files

// SVN names a file twice whose properties alone changed.
void without_hunk(DiffLines& in, const UnifiedFile& f) {
  while (in.any() && in.line().empty())
    in.skip();
  if (in.at("@@@")) return in.fail(in.number(), "a merge's combined diff is not taken");
  if (!in.at("Property changes on: ")) in.fail(f.line, "a file without a hunk");
}

void read_plain_file(DiffLines& in, NamePrefixes& prefixes, std::vector<UnifiedFile>& files) {
  UnifiedFile f{.line = in.number()};
  const AbsentSides absent = read_names(in, prefixes, f);
  read_hunks(in, f);
  if (in.failed()) return;
  if (f.hunks.empty()) return without_hunk(in, f);
  settle_existence(f, absent);
  if (!settle_name(f)) two_names(in, f);
  files.push_back(std::move(f));
}

void read_git_file(DiffLines& in, NamePrefixes& prefixes, std::vector<UnifiedFile>& files) {
  UnifiedFile f{.line = in.number()};
  set_git_names(in.line().substr(string_view("diff --git ").size()), f);
  const bool told = !f.path_before.empty();
  if (!prefixes.strip(f) && told) no_name(in, f);
  in.skip();
  bool renamed = false;  // the header named the paths; the --- and +++ lines do not count
  while (in.any() && take_git_header(in, f, renamed))
    in.skip();
  if (in.at("--- ")) {
    UnifiedFile named{.line = f.line};
    read_names(in, prefixes, named);
    prefixes.forget_lone_name(f);
    if (!renamed) {
      f.path_before = named.path_before;
      f.path_after = named.path_after;
    }
  }
  read_hunks(in, f);
  if (f.path_before.empty() && f.path_after.empty()) {
    no_name(in, f);
  } else if (!f.path_before.empty() && !f.path_after.empty() && f.path_before != f.path_after &&
             !renamed) {
    two_names(in, f);
  }
  files.push_back(std::move(f));
}

// --- SVN's properties

// The property that the line names: "Added: svn:eol-style"; older ones write "Name: ".
string_view property_named(string_view line) {
  for (const string_view key : {"Added: ", "Modified: ", "Deleted: ", "Name: "}) {
    if (line.starts_with(key)) return trim(line.substr(key.size()), " \t\r");
  }
  return {};
}

bool changes_the_tree(string_view property) {
  return property == "svn:executable" || property == "svn:special" || property == "svn:externals";
}

// Of a property's value, or between two.
bool is_inside(string_view line) {
  return line.empty() || line.starts_with("____") || line.starts_with("## ") ||
         string_view(" +-\\").find(line.front()) != string_view::npos;
}

}  // namespace

DiffLines::DiffLines(string_view name, string_view diff, int first)
    : name_(name), diff_(diff), first_(first) {
  while (!diff.empty()) {
    const size_t end = diff.find('\n');
    lines_.push_back(diff.substr(0, end));
    diff = end == string_view::npos ? string_view() : diff.substr(end + 1);
  }
}

string_view DiffLines::rest() const {
  return diff_.substr(static_cast<size_t>(lines_[next_].data() - diff_.data()));
}

void DiffLines::fail(int line, string message, Verdict verdict) {
  errors.push_back(Finding::of(verdict, at_line(string(name_), line), std::move(message)));
}

void read_file(DiffLines& in, NamePrefixes& prefixes, std::vector<UnifiedFile>& files) {
  in.at("diff ") ? read_git_file(in, prefixes, files) : read_plain_file(in, prefixes, files);
}

void read_properties(DiffLines& in) {
  const string_view path =
      trim(in.line().substr(string_view("Property changes on: ").size()), " \t");
  for (in.skip(); in.any(); in.skip()) {
    const string_view property = property_named(in.line());
    if (changes_the_tree(property)) {
      return in.fail(in.number(),
                     fmt::format("the property `{}` of `{}` is not taken", property, path));
    }
    const bool file =
        in.at("--- ") && in.rest().substr(first_line(in.rest()).size()).starts_with("+++ ");
    if (file || (property.empty() && !is_inside(in.line()))) return;
  }
}

}  // namespace patcher
