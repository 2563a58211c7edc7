#include "patcher/hunk/verbatim.h"

#include <algorithm>

#include "patcher/base/libgit2.h"
#include "patcher/hunk/anchor.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;

std::vector<const HunkLine*> old_lines(const Hunk& hunk) {
  std::vector<const HunkLine*> out;
  for (const HunkLine& l : hunk.lines) {
    if (l.kind != Kind::kAdded) out.push_back(&l);
  }
  return out;
}

// Whether a line of the file is the hunk's; where line ends change, with its carriage return,
// unless one of the two has no end: whether a file's last line has one is not the hunk's to say.
bool is_line(const Source& source, size_t line, const HunkLine& wanted, bool with_end) {
  const Lines& lines = source.lines();
  const std::string_view end = lines.line_end(line);
  std::string_view text = lines.text(line);
  if (line == 0) text = without_bom(text);
  if (!with_end) return text == wanted.text;
  if (end.empty() || wanted.unended) return text == without_cr(wanted.text);
  return wanted.text.size() == text.size() + (end.size() - 1) && wanted.text.starts_with(text) &&
         wanted.text.ends_with(end.size() > 1 ? "\r" : "");
}

class LineEdits {
 public:
  LineEdits(const Source& source, const Hunk& hunk, size_t line)
      : lines_(source.lines()), bytes_(source.bytes()), hunk_(hunk), next_(line) {}

  std::vector<ByteEdit> run() {
    size_t removed = 0;
    std::vector<std::string_view> added;
    const auto flush = [&] {
      if (removed > 0 || !added.empty()) block(removed, added);
      removed = 0;
      added.clear();
    };
    for (const HunkLine& l : hunk_.lines) {
      if (l.kind == Kind::kContext) {
        flush();
        ++next_;
        before_ = &l;
      } else if (l.kind == Kind::kRemoved) {
        ++removed;
        ++next_;
      } else {
        added.push_back(l.text);
      }
    }
    flush();
    tidy_edits(bytes_, out_);
    return std::move(out_);
  }

 private:
  // The removed lines are those before next_.
  void block(size_t removed, const std::vector<std::string_view>& added) {
    const size_t first = next_ - removed;
    const std::string eol = line_end_at(removed == 0 && first > 0 ? first - 1 : first);
    std::string text;
    for (const std::string_view l : added) {
      text += l;
      text += eol;
    }
    const bool last = next_ == lines_.count();
    const bool unended = last && lines_.count() > 0 && lines_.line_end(lines_.count() - 1).empty();
    uint32_t begin = first < lines_.count() ? lines_.begin(first) : size();
    if (first == 0 && without_bom(bytes_).size() < bytes_.size()) begin = size_of_bom();
    // The text's last line keeps having no end.
    if (unended && !added.empty()) text.resize(text.size() - eol.size());
    const bool returns =
        hunk_.changes_line_ends && before_ != nullptr && before_->text.ends_with('\r');
    if (unended && removed == 0) text = (returns ? "\r\n" : eol) + text;
    if (unended && added.empty() && first > 0) begin = lines_.text_end(first - 1);
    const uint32_t end = last ? size() : std::max(begin, lines_.begin(next_));
    out_.push_back({begin, end, std::move(text)});
  }

  std::string line_end_at(size_t line) const {
    if (hunk_.changes_line_ends) return "\n";  // a carriage return is in the line's text
    for (size_t l = std::min(line, lines_.count() - 1) + 1; l-- > 0;) {
      if (!lines_.line_end(l).empty()) return std::string(lines_.line_end(l));
    }
    return "\n";
  }

  uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }
  uint32_t size_of_bom() const {
    return size() - static_cast<uint32_t>(without_bom(bytes_).size());
  }

  const Lines& lines_;
  const std::string_view bytes_;
  const Hunk& hunk_;
  size_t next_;                       // the file's line behind those that were looked at
  const HunkLine* before_ = nullptr;  // the last context line
  std::vector<ByteEdit> out_;
};

}  // namespace

std::vector<size_t> verbatim_places(const Source& source, const Hunk& hunk) {
  const std::vector<const HunkLine*> wanted = old_lines(hunk);
  const size_t count = source.lines().count();
  std::vector<size_t> out;
  if (wanted.empty() || wanted.size() > count) return out;
  const auto stands = [&](size_t at) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!is_line(source, at + i, *wanted[i], hunk.changes_line_ends)) return false;
    }
    return true;
  };
  const size_t first = hunk.at_end ? count - wanted.size() : 0;
  const size_t last = hunk.at_begin ? 0 : count - wanted.size();
  for (size_t at = first; at <= last && out.size() < kMaxMatches; ++at) {
    if (stands(at)) out.push_back(at);
  }
  return out;
}

bool at_stated_line(const Hunk& hunk, size_t line) {
  return hunk.before.line == line + 1;
}

bool is_of_base(const Source& source, const Hunk& hunk) {
  const std::string& blob = hunk.before.blob;
  return !blob.empty() && blob_name(source.bytes()).starts_with(blob);
}

std::pair<uint32_t, uint32_t> verbatim_bytes(const Source& source, const Hunk& hunk, size_t line) {
  const Lines& lines = source.lines();
  return {lines.begin(line), lines.text_end(line + old_lines(hunk).size() - 1)};
}

uint32_t verbatim_change(const Source& source, const Hunk& hunk, size_t line) {
  for (const HunkLine& l : hunk.lines) {
    if (l.kind != Kind::kContext) break;
    ++line;
  }
  const Lines& lines = source.lines();
  return line < lines.count() ? lines.begin(line) : static_cast<uint32_t>(source.bytes().size());
}

std::vector<ByteEdit> verbatim_edits(const Source& source, const Hunk& hunk, size_t line) {
  return LineEdits(source, hunk, line).run();
}

}  // namespace patcher
