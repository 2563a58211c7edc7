#include "patcher/patch/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "patcher/patch/patch_rules.h"
#include "patcher/syntax/tokens.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;

// Nobody reads more of what is no patch at all.
constexpr size_t kMostErrors = 100;

std::optional<Occurrence> parse_occurrence(std::string_view guard) {
  Occurrence o;
  const char* end = guard.data() + guard.size();
  const auto [p, ec] = std::from_chars(guard.data(), end, o.index);
  if (ec != std::errc() || !std::string_view(p, end).starts_with(" of ")) return std::nullopt;
  const auto [q, ec2] = std::from_chars(p + 4, end, o.count);
  if (ec2 != std::errc() || q != end || o.index < 1 || o.index > o.count) return std::nullopt;
  return o;
}

class Parser {
 public:
  Parser(std::string_view name, std::string_view text) : lines_(text_lines(without_bom(text))) {
    patch_.name = name;
  }

  Patch run() {
    while (next_ < lines_.size() && !at_section())
      header_line();
    while (next_ < lines_.size())
      section();
    require_text();
    if (!patch_.errors.empty()) return std::move(patch_);
    for (const Fault& f : patch_faults(patch_))
      fail(f.line, f.message, f.verdict);
    return std::move(patch_);
  }

 private:
  int number() const { return static_cast<int>(next_) + 1; }

  void fail(int line, std::string message, Verdict verdict = Verdict::kMalformed) {
    if (patch_.errors.size() > kMostErrors) return;
    if (patch_.errors.size() == kMostErrors) message = "more is wrong from here on";
    patch_.errors.push_back(Finding::of(verdict, at_line(patch_.name, line), std::move(message)));
  }

  bool at_section(size_t ahead = 0) const {
    const size_t i = next_ + ahead;
    return i + 1 < lines_.size() && lines_[i].starts_with("--- ") &&
           lines_[i + 1].starts_with("+++ ");
  }

  // --- header

  void header_line() {
    const std::string_view line = lines_[next_];
    const bool continues = line.starts_with(' ') || line.starts_with('\t');
    if (trim(line).empty()) {
      if (text_ != nullptr) *text_ += '\n';
    } else if (continues && text_ != nullptr) {
      *text_ += '\n';
      *text_ += trim(line);
    } else {
      key_line(line);
    }
    ++next_;
  }

  void key_line(std::string_view line) {
    const size_t colon = line.find(':');
    const std::string_view key = line.substr(0, colon);
    text_ = nullptr;
    if (colon == std::string_view::npos) {
      return fail(number(), fmt::format("expected `key: value` or `--- path`, got `{}`", line));
    }
    const std::string_view value = trim(line.substr(colon + 1));
    if (key == "Subject") return free_text(patch_.subject, key, value);
    if (key == "Why") return free_text(patch_.why, key, value);
    if (key == "install" || key == "delete" || key == "rename" || key == "mode" ||
        key == "newline") {
      return operation(key, value);
    }
    fail(number(),
         fmt::format(
             "unknown key `{}`; known are Subject, Why, install, delete, rename, mode, newline",
             key));
  }

  void free_text(std::string& into, std::string_view key, std::string_view value) {
    if (!into.empty()) return fail(number(), fmt::format("`{}` is given twice", key));
    into = value;
    text_ = &into;
  }

  void operation(std::string_view key, std::string_view value) {
    const size_t arrow = value.find(" -> ");
    const bool has_arrow = arrow != std::string_view::npos;
    const std::string_view left = trim(value.substr(0, arrow));
    const std::string_view right = has_arrow ? trim(value.substr(arrow + 4)) : std::string_view();
    if (left.empty() || (has_arrow ? right.empty() : key != "delete")) {
      return fail(number(), fmt::format("`{}` needs `{}`", key, shape(key)));
    }
    FileOperation op{.line = number()};
    if (key == "install") {
      op.path = right;
      op.beside = left;
    } else if (key == "delete") {
      op.kind = FileOperation::Kind::kDelete;
      op.path = left;
      op.beside = has_arrow ? right : left.substr(left.rfind('/') + 1);
    } else if (key == "mode") {
      if (right != "755" && right != "644") return fail(number(), "a mode is 755 or 644");
      op.kind = FileOperation::Kind::kMode;
      op.path = left;
      op.executable = right == "755";
    } else if (key == "newline") {
      if (right != "yes" && right != "no") return fail(number(), "a final newline is yes or no");
      op.kind = FileOperation::Kind::kNewline;
      op.path = left;
      op.newline = right == "yes";
    } else {
      op.kind = FileOperation::Kind::kRename;
      op.path = left;
      op.to = right;
    }
    for (const std::string& path : {op.path, op.to, op.beside}) {
      if (!path.empty()) check_path(path, number());
    }
    patch_.operations.push_back(std::move(op));
  }

  static std::string_view shape(std::string_view key) {
    if (key == "install") return "install: FILE -> PATH";
    if (key == "mode") return "mode: PATH -> 755 or 644";
    if (key == "newline") return "newline: PATH -> yes or no";
    return key == "delete" ? "delete: PATH [-> FILE]" : "rename: PATH -> PATH";
  }

  void check_path(std::string_view path, int line) {
    if (is_safe_path(path)) return;
    fail(line, fmt::format("`{}` is not a path inside the tree", path), Verdict::kUnsafePath);
  }

  // --- sections and hunks

  void section() {
    if (!at_section()) {
      fail(number(), fmt::format("expected `--- path` and `+++ path`, got `{}`", lines_[next_]));
      next_ = lines_.size();
      return;
    }
    const std::string_view from = trim(lines_[next_].substr(4));
    const std::string_view to = trim(lines_[next_ + 1].substr(4));
    FileChange change{.path = std::string(to), .line = number()};
    check_path(to, number() + 1);
    if (from != to && !is_rename(from, to)) {
      fail(number(), fmt::format("`{}` and `{}` differ and no `rename:` says so", from, to));
    }
    next_ += 2;
    while (next_ < lines_.size() && !at_section() && !lines_[next_].starts_with("@@")) {
      if (!trim(lines_[next_]).empty()) fail(number(), "expected `@@ scope @@`");
      ++next_;
    }
    while (next_ < lines_.size() && !at_section())
      hunk(change);
    if (change.hunks.empty()) fail(change.line, "a file section without a hunk");
    add_change(std::move(change));
  }

  bool is_rename(std::string_view from, std::string_view to) const {
    return std::any_of(patch_.operations.begin(), patch_.operations.end(), [&](const auto& op) {
      return op.kind == FileOperation::Kind::kRename && op.path == from && op.to == to;
    });
  }

  void add_change(FileChange change) {
    for (const FileChange& other : patch_.changes) {
      if (other.path != change.path) continue;
      return fail(change.line,
                  fmt::format("`{}` has two sections; put its hunks into one", change.path));
    }
    patch_.changes.push_back(std::move(change));
  }

  void hunk(FileChange& change) {
    Hunk hunk{.line = number()};
    header(lines_[next_++], hunk);
    while (next_ < lines_.size() && !at_section() && !lines_[next_].starts_with("@@ ")) {
      body_line(hunk);
      ++next_;
    }
    while (!hunk.lines.empty() && hunk.lines.back().kind == Kind::kContext &&
           hunk.lines.back().text.empty()) {
      hunk.lines.pop_back();
    }
    for (const Fault& f : hunk_faults(hunk))
      fail(f.line, f.message, f.verdict);
    change.hunks.push_back(std::move(hunk));
  }

  void header(std::string_view line, Hunk& hunk) {
    line = trim(line);
    if (!line.starts_with("@@ ") || !line.ends_with(" @@") || line.size() < 7) {
      return fail(hunk.line, fmt::format("expected `@@ scope @@`, got `{}`", line));
    }
    std::string_view inner = line.substr(3, line.size() - 6);
    size_t bar = inner.find(" | ");
    const std::string_view scope = trim(inner.substr(0, bar));
    const auto spec = parse_scope(scope);
    if (!spec) {
      return fail(
          hunk.line,
          fmt::format(
              "`{}` is not a scope; write `file`, a qualified name, or a name with parameter types",
              scope));
    }
    hunk.scope = *spec;
    while (bar != std::string_view::npos) {
      inner = inner.substr(bar + 3);
      bar = inner.find(" | ");
      guard(trim(inner.substr(0, bar)), hunk);
    }
  }

  void guard(std::string_view text, Hunk& hunk) {
    const auto occurrence = parse_occurrence(text);
    const bool twice = text.starts_with('#') ? !hunk.conditional.empty()
                                             : occurrence && hunk.occurrence.has_value();
    if (twice) {
      fail(hunk.line, fmt::format("`{}` is a second guard of its kind", text));
    } else if (text.starts_with('#')) {
      hunk.conditional = squeeze(text);
    } else if (occurrence) {
      hunk.occurrence = occurrence;
    } else {
      fail(hunk.line, fmt::format("`{}` is neither `N of M` nor a preprocessor state", text));
    }
  }

  void body_line(Hunk& hunk) {
    const std::string_view line = lines_[next_];
    HunkLine out{.line = number()};
    if (!line.empty()) {
      out.text = line.substr(1);
      switch (line.front()) {
        case ' ':
          break;
        case '-':
          out.kind = Kind::kRemoved;
          break;
        case '+':
          out.kind = Kind::kAdded;
          break;
        default:
          return fail(number(), "a hunk line begins with ` `, `-` or `+`");
      }
      if (out.kind == Kind::kContext && trim(out.text) == "...") out.kind = Kind::kSkip;
    }
    hunk.lines.push_back(std::move(out));
  }

  // --- what must hold

  void require_text() {
    if (patch_.subject.empty()) fail(1, "`Subject:` is missing");
    if (patch_.why.empty()) fail(1, "`Why:` is missing");
    while (patch_.why.ends_with('\n'))
      patch_.why.pop_back();
  }

  std::vector<std::string_view> lines_;
  size_t next_ = 0;
  std::string* text_ = nullptr;  // the free text that indented lines continue
  Patch patch_;
};

}  // namespace

Patch parse_patch(std::string_view name, std::string_view text) {
  return Parser(name, text).run();
}

}  // namespace patcher
