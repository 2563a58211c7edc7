#include "patcher/foreign/unified.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "patcher/foreign/diff_start.h"
#include "patcher/foreign/mail.h"
#include "patcher/foreign/unified_file.h"

namespace patcher {
namespace {

using std::string;
using std::string_view;

class Reader {
 public:
  Reader(string_view name, const MailText& part, std::optional<size_t> strip = {})
      : first_line_(part.line),
        mail_(read_mail(part.text)),
        in_(name, mail_.diff, first_line_ - 1 + mail_.diff_line),
        prefixes_(strip) {}

  UnifiedPatch run() {
    UnifiedPatch out{.subject = mail_.subject, .why = mail_.body, .line = first_line_};
    if (!mail_.error.empty()) in_.fail(first_line_ - 1 + mail_.error_line, mail_.error);
    while (in_.any() && !in_.failed())
      part();
    index_ends();
    if (!in_.failed() && files_.empty()) in_.fail(first_line_, "there is no diff in it");
    for (UnifiedFile& f : files_) {
      if (!prefixes_.settle_lone_name(f)) lone_name(f);
      check(f);
    }
    out.files = std::move(files_);
    out.errors = std::move(in_.errors);
    return out;
  }

 private:
  void part() {
    const bool plain = starts_plain_file(in_.rest()) || (!signed_ && in_.at("--- "));
    if (plain || starts_git_file(in_.rest())) return file();
    if (in_.at("Property changes on: ")) {
      index_ = 0;
      return read_properties(in_);
    }
    if (const string lost = lost_change(in_.line()); !lost.empty()) {
      return in_.fail(in_.number(), lost);
    }
    if (in_.at("Index: ")) {
      index_ends();
      index_ = in_.number();
    }
    if (in_.at("-- ") || in_.line() == "--") signed_ = true;
    if (!signed_ && !is_between_files()) return in_.fail(in_.number(), misplaced());
    gap_ = gap_ || in_.line().empty();
    in_.skip();
  }

  void file() {
    if (mail_.unruled && gap_ && !files_.empty()) {
      return in_.fail(
          in_.number(),
          "the mail has no line `---`: is this its diff, or the one above, in its message?");
    }
    gap_ = false;
    index_ = 0;
    read_file(in_, prefixes_, files_);
  }

  // Lines that tools put between files; CVS has three of its own.
  bool is_between_files() const {
    return in_.line().empty() || in_.at("Index: ") || in_.at("====") || in_.at("diff ") ||
           in_.at("RCS file: ") || in_.at("retrieving revision ");
  }

  string misplaced() const {
    if (in_.at("@@ ")) return "a hunk without the lines `--- path` and `+++ path`";
    if (in_.at("*** ")) return "a context diff is not taken; make a unified one (diff -u)";
    return fmt::format("is no part of a diff: `{}`{}", in_.line(),
                       mail_.unruled ? "; the mail has no line `---` behind its message" : "");
  }

  // `Index: path` and no change: SVN says so of an empty file that is new or gone.
  void index_ends() {
    if (index_ != 0 && !in_.failed()) {
      in_.fail(index_,
               "a file is named and no change of it follows; if it is empty and new or gone, the "
               "diff cannot say so");
    }
    index_ = 0;
  }

  void lone_name(const UnifiedFile& f) {
    const string& name = f.path_before.empty() ? f.path_after : f.path_before;
    in_.fail(f.line, fmt::format("`{}` does not say whether its first part is the tree's; write "
                                 "`{}/{}`, or -p0 or -p1 behind the patch's name in the series",
                                 name, f.path_before.empty() ? "b" : "a", name));
  }

  // What must hold of every file.
  void check(const UnifiedFile& f) {
    for (const string* path : {&f.path_before, &f.path_after}) {
      if (path->empty() || is_safe_path(*path)) continue;
      in_.fail(f.line, fmt::format("`{}` is not a path inside the tree", *path),
               Verdict::kUnsafePath);
    }
    for (const auto& m : {f.mode_before, f.mode_after}) {
      if (!m || (*m & S_IFMT) == 0 || S_ISREG(*m)) continue;
      const string& path = f.path_after.empty() ? f.path_before : f.path_after;
      return in_.fail(
          f.line, fmt::format("`{}` is a {}", path, S_ISLNK(*m) ? "symbolic link" : "submodule"));
    }
  }

  int first_line_;
  Mail mail_;
  DiffLines in_;
  NamePrefixes prefixes_;
  std::vector<UnifiedFile> files_;
  bool signed_ = false;  // behind a mail's signature only what begins a file counts
  bool gap_ = false;     // an empty line stands between the last file and the next
  int index_ = 0;        // the line of an `Index: path` of which nothing came yet
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
