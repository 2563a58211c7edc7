#include "patcher/foreign/redo_hunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "patcher/text/lines.h"

namespace patcher {
namespace {

constexpr size_t kMostShown = 5;  // places of one hunk

// One file's hunks done to its bytes.
class Redo {
 public:
  Redo(const UnifiedFile& file, const std::string& before, LineRule rule)
      : file_(file), before_(before), lines_(before), rule_(rule) {}

  Redone run() {
    if (!find(&Redo::stated) && (rule_ == LineRule::kStated || !find(&Redo::only))) {
      return {.misfit_line = misfit_line_, .misfit = misfit()};
    }
    size_t next = 0;
    for (size_t h = 0; h < places_.size(); ++h) {
      for (; next < places_[h]; ++next)
        keep(next);
      for (const UnifiedLine& l : file_.hunks[h].lines) {
        if (l.mark == '+') {
          add(next, l);
          continue;
        }
        if (l.mark == ' ') keep(next);
        ++next;
      }
    }
    for (; next < lines_.count(); ++next)
      keep(next);
    return {.after = std::move(out_)};
  }

 private:
  // What is wrong with the hunk at misfit_line_.
  std::string misfit() const {
    if (fits_.empty()) return "the base has other text there: the diff was taken from another";
    std::string lines;
    for (const size_t at : fits_)
      lines += fmt::format("{}{}", lines.empty() ? "" : ", ", at + 1);
    return fmt::format(
        "the base has other text at the line that the hunk names, and its text at lines {}: which "
        "is meant?",
        lines);
  }

  using Rule = std::optional<size_t> (Redo::*)(const UnifiedHunk&, size_t);

  // The first line of each hunk, in order, by one rule for all: a diff whose numbers are wrong in
  // one place may fit by chance in another.
  bool find(Rule rule) {
    places_.clear();
    size_t next = 0;
    for (const UnifiedHunk& h : file_.hunks) {
      const auto at = (this->*rule)(h, next);
      if (!at) return false;
      places_.push_back(*at);
      next = *at + before_count(h);
    }
    return true;
  }

  static size_t before_count(const UnifiedHunk& h) {
    return static_cast<size_t>(
        std::count_if(h.lines.begin(), h.lines.end(), [](const auto& l) { return l.mark != '+'; }));
  }

  std::optional<size_t> stated(const UnifiedHunk& h, size_t next) {
    const size_t begin = h.before_line + (before_count(h) == 0 ? 1 : 0);
    if (begin == 0 || begin - 1 < next || !fits(h, begin - 1)) {
      if (misfit_line_ == 0) misfit_line_ = h.line;
      return std::nullopt;
    }
    return begin - 1;
  }

  // Where it stands in all of the file, if that is one place.
  std::optional<size_t> only(const UnifiedHunk& h, size_t next) {
    fits_.clear();
    for (size_t at = 0; before_count(h) > 0 && at < lines_.count(); ++at) {
      if (fits(h, at)) fits_.push_back(at);
      if (fits_.size() == kMostShown) break;
    }
    if (fits_.size() == 1 && fits_.front() >= next) return fits_.front();
    misfit_line_ = h.line;
    if (fits_.size() == 1) fits_.clear();
    return std::nullopt;
  }

  bool fits(const UnifiedHunk& h, size_t at) {
    if (at > lines_.count()) return false;
    for (const UnifiedLine& l : h.lines) {
      if (l.mark == '+') continue;
      if (at >= lines_.count() || without_cr(l.text) != lines_.text(at)) {
        if (rule_ == LineRule::kStated) misfit_line_ = l.line;
        return false;
      }
      ++at;
    }
    return true;
  }

  void keep(size_t line) {
    out_ +=
        std::string_view(before_).substr(lines_.begin(line), lines_.end(line) - lines_.begin(line));
  }

  // A diff that lost its carriage returns on the way takes those of the line where it lands.
  void add(size_t line, const UnifiedLine& l) {
    out_ += l.text;
    if (l.no_newline) return;
    const size_t like = line < lines_.count() ? line : lines_.count() - 1;
    const bool crlf = lines_.count() > 0 && lines_.line_end(like) == "\r\n";
    out_ += crlf && !l.text.ends_with('\r') ? "\r\n" : "\n";
  }

  const UnifiedFile& file_;
  const std::string& before_;
  const Lines lines_;
  LineRule rule_;
  std::vector<size_t> places_;
  std::string out_;
  int misfit_line_ = 0;
  std::vector<size_t> fits_;  // where the hunk that was looked for fits
};

}  // namespace

Redone redo_hunks(const UnifiedFile& file, const std::string& before, LineRule rule) {
  return Redo(file, before, rule).run();
}

}  // namespace patcher
