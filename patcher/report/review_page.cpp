#include "patcher/report/review_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/base/counted.h"
#include "patcher/hunk/place.h"
#include "patcher/report/diff.h"
#include "patcher/report/html.h"
#include "patcher/report/review_style.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;

// --- one file of one patch

// Which lines of the file before the patch its anchors are at.
std::vector<bool> anchored_lines(const Patch& patch, const PatchedFile& file) {
  if (!file.before.exists()) return {};
  const Lines& lines = file.before.source->lines();
  std::vector<bool> anchored(lines.count());
  for (const FileChange& change : patch.changes) {
    if (change.path != file.path) continue;
    for (const Hunk& hunk : change.hunks) {
      const Placement result = place_hunk(*file.before.source, hunk);
      if (result.failure) continue;
      const size_t last = lines.line_of(std::max(result.end, 1u) - 1);
      for (size_t l = lines.line_of(result.begin); l <= last; ++l)
        anchored[l] = true;
    }
  }
  return anchored;
}

// A line's number and code; its kinds are classes of the style sheet.
std::string cell(size_t line, std::string_view number_kind, std::string_view kind,
                 const std::string& code) {
  return fmt::format("<i class=\"{}\">{}</i><code class=\"{}\">{}</code>", number_kind, line + 1,
                     kind, code);
}

constexpr const char* kNoCell = "<i class=\"none\"></i><code class=\"none\"></code>";

class FileView {
 public:
  FileView(const Patch& patch, const PatchedFile& file)
      : file_(file),
        anchored_(anchored_lines(patch, file)),
        left_(file.before.exists() ? *file.before.source : nothing_),
        right_(file.after.exists() ? *file.after.source : nothing_) {}

  std::string html() const {
    const DiffCount n = file_.count();
    std::string out =
        fmt::format("<details open><summary><code>{}</code>{} +{} &minus;{}</summary>\n",
                    html_escaped(file_.path), file_.remark(), n.added, n.removed);
    for (const DiffHunk& hunk : diff_hunks(file_.old_bytes(), file_.new_bytes())) {
      out += fmt::format("<div class=\"hunk\"><div class=\"at\">{}</div>\n", hunk_header(hunk));
      for (const DiffRow& row : pair_rows(hunk))
        out += row_html(row);
      out += "</div>\n";
    }
    return out + "</details>\n";
  }

 private:
  std::string row_html(const DiffRow& row) const {
    std::pair<Spans, Spans> spans;
    const bool same = row.left != nullptr && row.left->kind == ' ';
    if (row.left != nullptr && row.right != nullptr && !same) {
      spans = changed_words(row.left->text, row.right->text);
    }
    std::string left = kNoCell;
    if (row.left != nullptr) {
      const size_t l = row.left->before_line;
      const bool anchor = l < anchored_.size() && anchored_[l];
      left = cell(l, "", std::string(same ? "" : "del") + (anchor ? " anchor" : ""),
                  left_.line(l, spans.first));
    }
    if (row.right == nullptr) return left + kNoCell + "\n";
    const size_t l = row.right->after_line;
    return left + cell(l, same ? "twin" : "", same ? "twin" : "add", right_.line(l, spans.second)) +
           "\n";
  }

  const PatchedFile& file_;
  const Source nothing_{"none", ""};
  const std::vector<bool> anchored_;
  const ColoredLines left_;
  const ColoredLines right_;
};

// --- one patch

std::string paragraphs(std::string_view text) {
  std::string out = "<div class=\"why\">";
  while (!text.empty()) {
    const size_t end = std::min(text.find("\n\n"), text.size());
    const std::string_view part = text.substr(0, end);
    if (part.find_first_not_of('\n') != std::string_view::npos) {
      out += fmt::format("<p>{}</p>", html_escaped(part));
    }
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out + "</div>\n";
}

std::string finding_html(const Finding& f, bool error) {
  const Place& at = f.place.file.empty() ? f.origin : f.place;
  std::string out = fmt::format("<li><code>{}</code> <span class=\"{}\">{}</span>: {}",
                                html_escaped(shown(at)), error ? "bad" : "",
                                error ? verdict_name(f.verdict) : "note", html_escaped(f.message));
  for (const std::string& hint : f.hints)
    out += fmt::format("<div>hint: {}</div>", html_escaped(hint));
  for (const Candidate& c : f.candidates) {
    out += fmt::format("<div><code>{} {}</code></div>", html_escaped(shown(c.place)),
                       html_escaped(shown(c)));
  }
  return out + "</li>\n";
}

std::string findings_html(const PatchPlan& p) {
  if (p.findings.empty() && p.notes.empty()) return {};
  std::string out = "<ul class=\"findings\">\n";
  for (const Finding& f : p.findings)
    out += finding_html(f, true);
  for (const Finding& f : p.notes)
    out += finding_html(f, false);
  return out + "</ul>\n";
}

// What a refused patch wants: its hunks as they are written.
std::string written_hunk(const Hunk& hunk) {
  std::string out = fmt::format("<div class=\"hunk\"><div class=\"at\">@@ {} @@</div>\n",
                                html_escaped(hunk.scope.text));
  for (const HunkLine& line : hunk.lines) {
    const char* kind = line.kind == Kind::kRemoved ? "del" : line.kind == Kind::kAdded ? "add" : "";
    out += fmt::format("<i>{}</i><code class=\"{}\" style=\"grid-column:2/-1\">{}</code>\n",
                       line.line, kind, line.kind == Kind::kSkip ? "..." : html_escaped(line.text));
  }
  return out + "</div>\n";
}

std::string written_changes(const Patch& patch) {
  std::string out;
  for (const FileChange& change : patch.changes) {
    out += fmt::format("<details open><summary><code>{}</code></summary>\n",
                       html_escaped(change.path));
    for (const Hunk& hunk : change.hunks)
      out += written_hunk(hunk);
    out += "</details>\n";
  }
  return out;
}

std::string verdict_html(Verdict verdict) {
  return fmt::format("<span class=\"verdict {}\">{}</span>", is_refusal(verdict) ? "bad" : "ok",
                     verdict_name(verdict));
}

std::string section(const PatchPlan& p) {
  const DiffCount n = patch_count(p);
  std::string out = fmt::format(
      "<section id=\"p{}\">\n<h2>{}. {}</h2>\n<p class=\"meta\"><code>{}</code> {} +{} "
      "&minus;{}</p>\n",
      p.number, p.number, html_escaped(p.patch->subject), html_escaped(p.patch->name),
      verdict_html(p.verdict), n.added, n.removed);
  out += paragraphs(p.patch->why) + findings_html(p);
  if (is_refusal(p.verdict)) return out + written_changes(*p.patch) + "</section>\n";
  for (const PatchedFile& file : changed_files(p))
    out += FileView(*p.patch, file).html();
  return out + "</section>\n";
}

std::string contents(const Plan& plan) {
  std::string out = "<nav><ol>\n";
  for (const PatchPlan& p : plan.patches) {
    out += fmt::format("<li><a href=\"#p{}\">{}</a> {}</li>\n", p.number,
                       html_escaped(p.patch->subject), verdict_html(p.verdict));
  }
  return out + "</ol></nav>\n";
}

}  // namespace

std::string review_page(const Plan& plan, const std::string& title) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n"
      "<p class=\"meta\">{2}. <span class=\"legend\">The bar marks the lines of an anchor."
      "</span></p>\n",
      html_escaped(title), kReviewStyle, counted(plan.patches.size(), "patch"));
  out += contents(plan);
  for (const PatchPlan& p : plan.patches)
    out += section(p);
  return out + "</body>\n</html>\n";
}

}  // namespace patcher
