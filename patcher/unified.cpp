#include "patcher/unified.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "patcher/mail.h"
#include "patcher/mbox.h"
#include "patcher/unified_names.h"

namespace patcher {
namespace {

using std::string;
using std::string_view;

bool take(string_view& text, string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_number(string_view& text, size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// "N" or "N,COUNT".
bool take_range(string_view& text, size_t& first, size_t& count) {
  count = 1;
  if (!take_number(text, first)) return false;
  return !take(text, ",") || take_number(text, count);
}

class Reader {
 public:
  Reader(string_view name, const MailText& part)
      : name_(name), first_line_(part.line), mail_(read_mail(part.text)) {
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
    if (!mail_.error.empty()) fail(first_line_, mail_.error);
    while (next_ < lines_.size() && out_.errors.empty())
      file();
    if (out_.errors.empty() && out_.files.empty()) fail(first_line_, "there is no diff in it");
    for (const UnifiedFile& f : out_.files)
      check(f);
    return std::move(out_);
  }

 private:
  int number(size_t index) const {
    return first_line_ - 1 + mail_.diff_line + static_cast<int>(index);
  }
  string_view line() const {
    string_view text = lines_[next_];
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
  }
  bool at(string_view start) const {
    return next_ < lines_.size() && lines_[next_].starts_with(start);
  }

  void fail(int line, string message, Verdict verdict = Verdict::kMalformed) {
    out_.errors.push_back({.verdict = verdict,
                           .origin = {.file = string(name_), .line = line, .column = 1},
                           .message = std::move(message)});
  }

  // --- a file's header

  void file() {
    if (at("diff --git ")) return git_file();
    if (at("--- ")) return plain_file();
    if (at("-- ") || line() == "--") {  // a mail's signature
      next_ = lines_.size();
      return;
    }
    const string_view text = line();
    const bool noise = text.empty() || at("Index: ") || at("====") || at("diff ") || at("Only in ");
    if (!noise) fail(number(next_), fmt::format("is no part of a diff: `{}`", text));
    ++next_;
  }

  void plain_file() {
    UnifiedFile f{.line = number(next_)};
    names(f);
    strip_name_prefixes(f);
    hunks(f);
    if (f.hunks.empty() && out_.errors.empty()) fail(f.line, "a file without a hunk");
    out_.files.push_back(std::move(f));
  }

  void names(UnifiedFile& f) {
    string_view text = line();
    take(text, "--- ");
    f.path_before = name_behind_mark(text);
    ++next_;
    if (!at("+++ ")) return fail(number(next_), "expected `+++ path`");
    text = line();
    take(text, "+++ ");
    f.path_after = name_behind_mark(text);
    ++next_;
  }

  void git_file() {
    UnifiedFile f{.line = number(next_)};
    string_view text = line();
    take(text, "diff --git ");
    set_git_names(text, f);
    ++next_;
    while (next_ < lines_.size() && extended_header(f))
      ++next_;
    if (at("--- ")) {
      UnifiedFile named;
      names(named);
      strip_name_prefixes(named);
      if (!renamed_) {
        f.path_before = named.path_before;
        f.path_after = named.path_after;
      }
    }
    renamed_ = false;
    hunks(f);
    if (f.path_before != f.path_after && (f.path_before.empty() || f.path_after.empty())) {
      // A new or a deleted file: the other name is none.
    } else if (f.path_before.empty()) {
      fail(f.line, "the file's name cannot be told");
    }
    out_.files.push_back(std::move(f));
  }

  bool extended_header(UnifiedFile& f) {
    string_view text = line();
    if (text.starts_with("GIT binary patch") || text.starts_with("Binary files ")) {
      fail(number(next_),
           fmt::format("`{}` is binary", f.path_after.empty() ? f.path_before : f.path_after));
      return false;
    }
    if (take(text, "copy from ")) {
      fail(number(next_), fmt::format("`{}` is copied, which is not supported", text));
      return false;
    }
    if (take(text, "rename from ")) {
      f.path_before = unquoted_name(text);
      renamed_ = true;
    } else if (take(text, "rename to ")) {
      f.path_after = unquoted_name(text);
    } else if (take(text, "old mode ")) {
      f.mode_before = mode(text);
    } else if (take(text, "new mode ")) {
      f.mode_after = mode(text);
    } else if (take(text, "new file mode ")) {
      f.mode_after = mode(text);
      f.path_before.clear();
      renamed_ = true;
    } else if (take(text, "deleted file mode ")) {
      f.mode_before = mode(text);
      f.path_after.clear();
      renamed_ = true;
    } else {
      return text.starts_with("index ") || text.starts_with("similarity index ") ||
             text.starts_with("dissimilarity index ");
    }
    return true;
  }

  static mode_t mode(string_view text) {
    unsigned value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 8);
    return value;
  }

  // --- hunks

  void hunks(UnifiedFile& f) {
    while (at("@@ ") && out_.errors.empty())
      hunk(f);
  }

  void hunk(UnifiedFile& f) {
    UnifiedHunk h{.line = number(next_)};
    string_view text = line();
    size_t before = 0;
    size_t after = 0;
    size_t after_line = 0;
    const bool good = take(text, "@@ -") && take_range(text, h.before_line, before) &&
                      take(text, " +") && take_range(text, after_line, after) && take(text, " @@");
    if (!good) return fail(h.line, "expected `@@ -LINE,COUNT +LINE,COUNT @@`");
    take(text, " ");
    h.heading = text;
    ++next_;
    while ((before > 0 || after > 0 || at("\\")) && next_ < lines_.size()) {
      if (!body_line(h, before, after)) return;
    }
    if (before > 0 || after > 0) {
      return fail(h.line, fmt::format("the hunk ends early: {} old and {} new lines are missing",
                                      before, after));
    }
    f.hunks.push_back(std::move(h));
  }

  bool body_line(UnifiedHunk& h, size_t& before, size_t& after) {
    const string_view text = lines_[next_];
    const char mark = text.empty() || text == "\r" ? ' ' : text.front();
    if (mark == '\\') {
      if (!h.lines.empty()) h.lines.back().no_newline = true;
      ++next_;
      return true;
    }
    const bool known = mark == ' ' || mark == '-' || mark == '+';
    if (!known || (mark != '+' && before == 0) || (mark != '-' && after == 0)) {
      fail(number(next_), "the hunk's lines and its counts differ");
      return false;
    }
    before -= mark != '+' ? 1 : 0;
    after -= mark != '-' ? 1 : 0;
    h.lines.push_back({.mark = mark,
                       .text = string(text.empty() || text == "\r" ? text : text.substr(1)),
                       .line = number(next_)});
    ++next_;
    return true;
  }

  // --- what must hold

  void check(const UnifiedFile& f) {
    for (const string* path : {&f.path_before, &f.path_after}) {
      if (path->empty() || is_safe_path(*path)) continue;
      fail(f.line, fmt::format("`{}` is not a path inside the tree", *path), Verdict::kUnsafePath);
    }
    for (const auto& m : {f.mode_before, f.mode_after}) {
      if (m && (*m & S_IFMT) != 0 && !S_ISREG(*m)) {
        fail(f.line, fmt::format("`{}` is a link or a submodule",
                                 f.path_after.empty() ? f.path_before : f.path_after));
      }
    }
  }

  string_view name_;
  int first_line_ = 1;
  Mail mail_;
  std::vector<string_view> lines_;
  size_t next_ = 0;
  bool renamed_ = false;  // the header named the paths; the --- and +++ lines do not count
  UnifiedPatch out_;
};

bool has_line(string_view text, string_view start) {
  return text.starts_with(start) || text.find("\n" + string(start)) != string_view::npos;
}

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

bool is_unified(string_view text) {
  if (text.starts_with("From ") || text.starts_with("diff ") || text.starts_with("Index: ")) {
    return true;
  }
  const size_t ours = text.find("\n@@ ");
  const size_t header = text.substr(0, ours).find("Why:");
  if (header != string_view::npos && (header == 0 || text[header - 1] == '\n')) return false;
  return has_line(text, "diff --git ") || has_line(text, "@@ -");
}

std::vector<UnifiedPatch> parse_mails(string_view name, string_view text) {
  std::vector<UnifiedPatch> out;
  for (const MailText& mail : split_mails(text))
    out.push_back(Reader(name, mail).run());
  return out;
}

UnifiedPatch parse_unified(string_view name, string_view text) {
  const std::vector<MailText> mails = split_mails(text);
  if (mails.size() == 1) return Reader(name, mails.front()).run();
  UnifiedPatch out;
  out.errors.push_back(
      {.verdict = Verdict::kMalformed,
       .origin = {.file = string(name), .line = mails[1].line, .column = 1},
       .message = fmt::format("the file holds {} mails; `patcher import` makes a patch of each",
                              mails.size())});
  return out;
}

}  // namespace patcher
