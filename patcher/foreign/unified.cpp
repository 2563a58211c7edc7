#include "patcher/foreign/unified.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>

#include "patcher/foreign/diff_start.h"
#include "patcher/foreign/git_header.h"
#include "patcher/foreign/mail.h"
#include "patcher/foreign/mbox.h"
#include "patcher/foreign/svn_properties.h"
#include "patcher/foreign/unified_hunk.h"
#include "patcher/foreign/unified_names.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using std::string;
using std::string_view;

class Reader {
 public:
  Reader(string_view name, const MailText& part, std::optional<size_t> strip = {})
      : name_(name), first_line_(part.line), mail_(read_mail(part.text)), prefixes_(strip) {
    for (string_view rest = mail_.diff; !rest.empty();) {
      const size_t end = rest.find('\n');
      lines_.push_back(rest.substr(0, end));
      rest = end == string_view::npos ? string_view() : rest.substr(end + 1);
    }
  }

  UnifiedPatch run() {
    out_.line = first_line_;
    out_.subject = mail_.subject;
    out_.why = mail_.body;
    if (!mail_.error.empty()) fail(first_line_ - 1 + mail_.error_line, mail_.error);
    while (next_ < lines_.size() && out_.errors.empty())
      part();
    index_ends();
    if (out_.errors.empty() && out_.files.empty()) fail(first_line_, "there is no diff in it");
    for (UnifiedFile& f : out_.files) {
      if (!prefixes_.settle_lone_name(f)) lone_name(f);
      check(f);
    }
    return std::move(out_);
  }

 private:
  int number(size_t index) const {
    return first_line_ - 1 + mail_.diff_line + static_cast<int>(index);
  }
  string_view line() const { return without_cr(lines_[next_]); }
  // The diff from the next line on.
  string_view rest() const {
    const size_t at = static_cast<size_t>(lines_[next_].data() - mail_.diff.data());
    return string_view(mail_.diff).substr(at);
  }
  bool at(string_view start) const {
    return next_ < lines_.size() && lines_[next_].starts_with(start);
  }

  void fail(int line, string message, Verdict verdict = Verdict::kMalformed) {
    out_.errors.push_back(Finding::of(verdict, at_line(string(name_), line), std::move(message)));
  }

  // --- what a diff is made of

  void part() {
    if (starts_git_file(rest()) || starts_plain_file(rest()) || (!signed_ && at("--- "))) {
      return file();
    }
    if (at("Property changes on: ")) return properties();
    if (const string lost = lost_change(line()); !lost.empty()) return fail(number(next_), lost);
    if (at("Index: ")) index_begins();
    if (at("-- ") || line() == "--") signed_ = true;  // a mail's signature
    if (!signed_ && !is_between_files()) return fail(number(next_), misplaced());
    gap_ = gap_ || line().empty();
    ++next_;
  }

  void file() {
    if (mail_.unruled && gap_ && !out_.files.empty()) {
      return fail(
          number(next_),
          "the mail has no line `---`: is this its diff, or the one above, in its message?");
    }
    gap_ = false;
    index_ = 0;
    at("diff ") ? git_file() : plain_file();
  }

  // Lines that tools put between files; CVS has three of its own.
  bool is_between_files() const {
    return line().empty() || at("Index: ") || at("====") || at("diff ") || at("RCS file: ") ||
           at("retrieving revision ");
  }

  string misplaced() const {
    if (at("@@ ")) return "a hunk without the lines `--- path` and `+++ path`";
    if (at("*** ")) return "a context diff is not taken; make a unified one (diff -u)";
    return fmt::format("is no part of a diff: `{}`{}", line(),
                       mail_.unruled ? "; the mail has no line `---` behind its message" : "");
  }

  // `Index: path` and no change: SVN says so of an empty file that is new or gone.
  void index_begins() {
    index_ends();
    index_ = number(next_);
  }
  void index_ends() {
    if (index_ != 0 && out_.errors.empty()) {
      fail(index_,
           "a file is named and no change of it follows; if it is empty and new or gone, the diff "
           "cannot say so");
    }
    index_ = 0;
  }

  void properties() {
    index_ = 0;
    const PropertySection section = read_properties(lines_, next_);
    if (!section.fault.empty()) return fail(number(section.fault_line), section.fault);
    next_ = section.end;
  }

  // --- a file's header

  void plain_file() {
    UnifiedFile f{.line = number(next_)};
    const AbsentSides absent = names(f);
    hunks(f);
    if (!out_.errors.empty()) return;
    if (f.hunks.empty()) return without_hunk(f);
    settle_existence(f, absent);
    if (!settle_name(f)) two_names(f);
    out_.files.push_back(std::move(f));
  }

  // SVN names a file twice whose properties alone changed.
  void without_hunk(const UnifiedFile& f) {
    while (next_ < lines_.size() && line().empty())
      ++next_;
    if (at("@@@")) return fail(number(next_), "a merge's combined diff is not taken");
    if (!at("Property changes on: ")) fail(f.line, "a file without a hunk");
  }

  AbsentSides names(UnifiedFile& f) {
    AbsentSides absent;
    for (const auto& [mark, path, missing] : {std::tuple{"--- ", &f.path_before, &absent.before},
                                              std::tuple{"+++ ", &f.path_after, &absent.after}}) {
      if (!at(mark)) {
        fail(number(next_), fmt::format("expected `{}path`", mark));
        return absent;
      }
      MarkedName name = name_behind_mark(line().substr(4));
      *path = std::move(name.path);
      *missing = name.absent;
      ++next_;
    }
    if (!prefixes_.strip(f)) no_name(f);
    return absent;
  }

  void no_name(const UnifiedFile& f) {
    fail(f.line, "the file's name cannot be told: it is empty, or too short for -p");
  }

  void lone_name(const UnifiedFile& f) {
    const string& name = f.path_before.empty() ? f.path_after : f.path_before;
    fail(f.line, fmt::format("`{}` does not say whether its first part is the tree's; write "
                             "`{}/{}`, or -p0 or -p1 behind the patch's name in the series",
                             name, f.path_before.empty() ? "b" : "a", name));
  }

  void two_names(const UnifiedFile& f) {
    fail(f.line, fmt::format("names two files, `{}` and `{}`: which one does it change?",
                             f.path_before, f.path_after));
  }

  void git_file() {
    UnifiedFile f{.line = number(next_)};
    set_git_names(line().substr(string_view("diff --git ").size()), f);
    const bool told = !f.path_before.empty();
    if (!prefixes_.strip(f) && told) no_name(f);
    ++next_;
    git_header(f);
    if (at("--- ")) {
      UnifiedFile named{.line = f.line};
      names(named);
      prefixes_.forget_lone_name(f);
      if (!renamed_) {
        f.path_before = named.path_before;
        f.path_after = named.path_after;
      }
    }
    hunks(f);
    if (f.path_before.empty() != f.path_after.empty()) {
      // A new or a deleted file: the other name is none.
    } else if (f.path_before.empty()) {
      no_name(f);
    } else if (f.path_before != f.path_after && !renamed_) {
      two_names(f);
    }
    renamed_ = false;
    out_.files.push_back(std::move(f));
  }

  void git_header(UnifiedFile& f) {
    for (; next_ < lines_.size(); ++next_) {
      const GitHeaderLine header = read_git_header(line(), f);
      if (!header.fault.empty()) return fail(number(next_), header.fault);
      if (!header.known) return;
      renamed_ = renamed_ || header.names;
    }
  }

  // --- hunks

  void hunks(UnifiedFile& f) {
    while (at("@@ ") && out_.errors.empty())
      hunk(f);
  }

  void hunk(UnifiedFile& f) {
    HunkRead read = read_hunk(lines_, next_);
    if (!read.fault.empty()) return fail(number(read.end), read.fault);
    read.hunk.line = number(next_);
    for (UnifiedLine& l : read.hunk.lines)
      l.line += read.hunk.line;
    next_ = read.end;
    f.hunks.push_back(std::move(read.hunk));
  }

  // --- what must hold

  void check(const UnifiedFile& f) {
    for (const string* path : {&f.path_before, &f.path_after}) {
      if (path->empty() || is_safe_path(*path)) continue;
      fail(f.line, fmt::format("`{}` is not a path inside the tree", *path), Verdict::kUnsafePath);
    }
    for (const auto& m : {f.mode_before, f.mode_after}) {
      if (!m || (*m & S_IFMT) == 0 || S_ISREG(*m)) continue;
      const string& path = f.path_after.empty() ? f.path_before : f.path_after;
      return fail(f.line,
                  fmt::format("`{}` is a {}", path, S_ISLNK(*m) ? "symbolic link" : "submodule"));
    }
  }

  string_view name_;
  int first_line_ = 1;
  Mail mail_;
  NamePrefixes prefixes_;
  std::vector<string_view> lines_;
  size_t next_ = 0;
  bool renamed_ = false;  // the header named the paths; the --- and +++ lines do not count
  bool signed_ = false;   // behind a mail's signature only what begins a file counts
  bool gap_ = false;      // an empty line stands between the last file and the next
  int index_ = 0;         // the line of an `Index: path` of which nothing came yet
  UnifiedPatch out_;
};

}  // namespace

string UnifiedFile::side(char mark) const {
  string out;
  for (const UnifiedHunk& h : hunks) {
    for (const UnifiedLine& l : h.lines) {
      if (l.mark != ' ' && l.mark != mark) continue;
      out += l.text;
      if (!l.no_newline) out += '\n';
    }
  }
  return out;
}

std::vector<UnifiedPatch> parse_mails(string_view name, string_view text) {
  std::vector<UnifiedPatch> out;
  for (const MailText& mail : split_mails(text))
    out.push_back(Reader(name, mail).run());
  return out;
}

UnifiedPatch parse_unified(string_view name, string_view text, std::optional<size_t> strip) {
  const std::vector<MailText> mails = split_mails(text);
  if (mails.size() == 1) return Reader(name, mails.front(), strip).run();
  UnifiedPatch out;
  out.errors.push_back(
      Finding::of(Verdict::kMalformed, at_line(string(name), mails[1].line),
                  fmt::format("the file holds {} mails; `patcher import` makes a patch of each",
                              mails.size())));
  return out;
}

}  // namespace patcher
