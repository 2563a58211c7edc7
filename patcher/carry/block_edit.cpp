#include "patcher/carry/block_edit.h"

#include <algorithm>

namespace patcher {
namespace {

bool is_white(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool starts_line(const TokenIndex& file, size_t code) {
  const Lines& lines = file.source().lines();
  const size_t line = file.line_of(code);
  return lines.begin(line) + lines.indentation(line).size() == file.token(code).begin;
}

// No other code before it on its line; a comment may be.
bool is_first_on_line(const TokenIndex& file, size_t code) {
  return code == 0 || file.last_line_of(code - 1) < file.line_of(code);
}

}  // namespace

BlockEditor::BlockEditor(const TokenIndex& base, const TokenIndex& target,
                         const std::vector<std::string_view>& after_lines)
    : base_(base),
      target_(target),
      after_lines_(after_lines),
      base_style_(base.source().indentation().style({.tabs = false, .width = 4})),
      target_style_(target.source().indentation().style({.tabs = false, .width = 4})) {}

std::optional<ByteEdit> BlockEditor::edit(const ChangeBlock& block, const CarriedPlace& place,
                                          std::string& why) const {
  const Span span{base_.at_line(block.before_begin), base_.at_line(block.before_end)};
  if (block.inserts()) return insert(block, span, place, why);
  if (span.first == span.last) return replace_comments(block, place, why);
  const uint32_t end = target_.token(place.end - 1).end;
  const Lines& lines = target_.source().lines();
  const std::string_view rest =
      std::string_view(target_.source().bytes())
          .substr(end, lines.text_end(target_.last_line_of(place.end - 1)) - end);
  const bool next_is_here = place.end < target_.size() &&
                            target_.line_of(place.end) == target_.last_line_of(place.end - 1);
  if (is_first_on_line(target_, place.begin) && !next_is_here) {
    return replace_lines(block, span, place, why);
  }
  if (!is_white(rest) && !next_is_here) {
    why = "a comment stands behind what is removed";
    return std::nullopt;
  }
  return replace_tokens(block, span, place, why);
}

// Lines without white space and line ends, so that only what they say counts.
std::string BlockEditor::packed(const TokenIndex& file, size_t first_line, size_t last_line) const {
  std::string out;
  for (size_t l = first_line; l < last_line; ++l) {
    for (const char c : file.source().lines().text(l)) {
      if (c != ' ' && c != '\t' && c != '\r') out += c;
    }
  }
  return out;
}

std::string BlockEditor::line_end(size_t line) const {
  const Lines& lines = target_.source().lines();
  for (size_t l = std::min(line + 1, lines.count()); l-- > 0;) {
    if (!lines.line_end(l).empty()) return std::string(lines.line_end(l));
  }
  return "\n";
}

std::vector<std::string> BlockEditor::new_lines(const ChangeBlock& block,
                                                const Reindent& shift) const {
  std::vector<std::string> out;
  for (size_t l = block.after_begin; l < block.after_end; ++l)
    out.push_back(shift(after_lines_[l]));
  return out;
}

// Puts lines in the place of [first, last). The file's last line keeps its missing newline.
ByteEdit BlockEditor::over_lines(size_t first, size_t last,
                                 const std::vector<std::string>& lines) const {
  const Lines& there = target_.source().lines();
  const auto size = static_cast<uint32_t>(target_.source().bytes().size());
  ByteEdit edit{first < there.count() ? there.begin(first) : size,
                last < there.count() ? there.begin(last) : size};
  const std::string end = line_end(first);
  for (const std::string& line : lines)
    edit.text += line + end;
  const bool open = size > 0 && target_.source().bytes().back() != '\n';
  if (!open || edit.end != size || edit.text.empty()) return edit;
  edit.text.resize(edit.text.size() - end.size());
  if (edit.begin == size) edit.text = end + edit.text;
  return edit;
}

// How the lines around moved: by the removed line itself, else by the neighbour whose indentation
// is the added lines'.
Reindent BlockEditor::shift_at(const Span& span, const CarriedPlace& place,
                               const ChangeBlock& block) const {
  const auto shift_of = [&](size_t in_base, size_t in_target) {
    const Lines& b = base_.source().lines();
    const Lines& t = target_.source().lines();
    return Reindent{std::string(b.indentation(base_.line_of(in_base))),
                    std::string(t.indentation(target_.line_of(in_target))), base_style_,
                    target_style_};
  };
  const auto pair = [&](size_t b, size_t t) {
    return starts_line(base_, b) && starts_line(target_, t);
  };
  if (span.first < span.last) {
    const bool firsts =
        is_first_on_line(base_, span.first) && is_first_on_line(target_, place.begin);
    return firsts ? shift_of(span.first, place.begin) : Reindent{};
  }
  std::vector<Reindent> shifts;
  if (span.last < base_.size() && place.end < target_.size() && pair(span.last, place.end) &&
      base_.number(span.last) == target_.number(place.end)) {
    shifts.push_back(shift_of(span.last, place.end));
  }
  for (size_t back = 1; back <= std::min(span.first, place.begin); ++back) {
    if (base_.number(span.first - back) != target_.number(place.begin - back)) break;
    if (!starts_line(base_, span.first - back)) continue;
    if (starts_line(target_, place.begin - back)) {
      shifts.push_back(shift_of(span.first - back, place.begin - back));
    }
    break;
  }
  const auto own = leading_blanks(after_lines_[block.after_begin]);
  for (const Reindent& s : shifts) {
    if (s.from == own) return s;
  }
  return shifts.empty() ? Reindent{} : shifts.back();
}

// The lines [first, second) of the target between the tokens around an empty place.
std::pair<size_t, size_t> BlockEditor::gap(const CarriedPlace& place) const {
  const size_t first = place.begin > 0 ? target_.last_line_of(place.begin - 1) + 1 : 0;
  const size_t second = place.begin < target_.size() ? target_.line_of(place.begin)
                                                     : target_.source().lines().count();
  return {first, second};
}

std::optional<ByteEdit> BlockEditor::insert(const ChangeBlock& block, const Span& span,
                                            const CarriedPlace& place, std::string& why) const {
  const auto [first, second] = gap(place);
  if (first > second) return insert_inline(block, place, why);
  const size_t base_first = span.first > 0 ? base_.last_line_of(span.first - 1) + 1 : 0;
  const size_t base_second =
      span.last < base_.size() ? base_.line_of(span.last) : base_.source().lines().count();
  const size_t up = block.before_begin - std::min(base_first, block.before_begin);
  const size_t down = base_second - std::min(block.before_begin, base_second);
  if (up > second - first && down > second - first) {
    why = "the comments around the added lines are other ones now";
    return std::nullopt;
  }
  const size_t at =
      (up <= down && up <= second - first) || down > second - first ? first + up : second - down;
  return over_lines(at, at, new_lines(block, shift_at(span, place, block)));
}

// Both neighbours are on one line now: so is what comes between them.
std::optional<ByteEdit> BlockEditor::insert_inline(const ChangeBlock& block,
                                                   const CarriedPlace& place,
                                                   std::string& why) const {
  ByteEdit edit{target_.token(place.begin - 1).end, target_.token(place.begin - 1).end};
  for (size_t l = block.after_begin; l < block.after_end; ++l) {
    const std::string_view line = trim(after_lines_[l]);
    if (line.find("//") != std::string_view::npos || line.starts_with('#') ||
        line.ends_with('\\')) {
      why = "the added lines cannot stand within a line";
      return std::nullopt;
    }
    if (!line.empty()) edit.text += " " + std::string(line);
  }
  return edit;
}

std::optional<ByteEdit> BlockEditor::replace_lines(const ChangeBlock& block, const Span& span,
                                                   const CarriedPlace& place,
                                                   std::string& why) const {
  const size_t lead = base_.line_of(span.first) - block.before_begin;
  const size_t tail = block.before_end - 1 - base_.last_line_of(span.last - 1);
  const size_t top = target_.line_of(place.begin);
  const size_t bottom = target_.last_line_of(place.end - 1) + 1;
  const bool room = top >= lead && bottom + tail <= target_.source().lines().count();
  if (!room || packed(target_, top - lead, bottom + tail) !=
                   packed(base_, block.before_begin, block.before_end)) {
    why = "a comment at the removed lines is another one now";
    return std::nullopt;
  }
  return over_lines(top - lead, bottom + tail, new_lines(block, shift_at(span, place, block)));
}

// The removed tokens share their lines with others: only they are replaced.
std::optional<ByteEdit> BlockEditor::replace_tokens(const ChangeBlock& block, const Span& span,
                                                    const CarriedPlace& place,
                                                    std::string& why) const {
  const auto pack = [](const TokenIndex& file, size_t first, size_t last) {
    std::string out;
    const std::string_view bytes = file.source().bytes();
    const uint32_t begin = file.token(first).begin;
    for (const char c : bytes.substr(begin, file.token(last - 1).end - begin)) {
      if (!is_white({&c, 1})) out += c;
    }
    return out;
  };
  const std::string there = pack(target_, place.begin, place.end);
  if (there != packed(base_, block.before_begin, block.before_end)) {
    why = "a comment at the removed lines is another one now";
    return std::nullopt;
  }
  ByteEdit edit{target_.token(place.begin).begin, target_.token(place.end - 1).end};
  const Lines& lines = target_.source().lines();
  const Reindent shift{std::string(base_.source().lines().indentation(base_.line_of(span.first))),
                       std::string(lines.indentation(target_.line_of(place.begin))), base_style_,
                       target_style_};
  for (const std::string& line : new_lines(block, shift)) {
    if (line.find("//") != std::string::npos || trim(line).starts_with('#')) {
      why = "the added lines cannot stand within a line";
      return std::nullopt;
    }
    edit.text +=
        edit.text.empty() ? std::string(trim(line)) : line_end(target_.line_of(place.begin)) + line;
  }
  return edit;
}

// Only comments and blank lines go: they must be there, once, between the same tokens.
std::optional<ByteEdit> BlockEditor::replace_comments(const ChangeBlock& block,
                                                      const CarriedPlace& place,
                                                      std::string& why) const {
  const auto [first, second] = gap(place);
  const size_t count = block.before_end - block.before_begin;
  const Lines& base = base_.source().lines();
  const Lines& there = target_.source().lines();
  std::vector<size_t> hits;
  for (size_t at = first; at + count <= second && first <= second; ++at) {
    bool same = true;
    for (size_t i = 0; i < count && same; ++i)
      same = trim(there.text(at + i)) == trim(base.text(block.before_begin + i));
    if (same) hits.push_back(at);
  }
  // Blank lines alone are no text: any of them may go, and none need be there.
  if (packed(base_, block.before_begin, block.before_end).empty()) {
    const size_t at = hits.empty() ? std::min(first, second) : hits[0];
    const size_t gone = hits.empty() ? 0 : count;
    return over_lines(at, at + gone, new_lines(block, {}));
  }
  if (hits.size() != 1) {
    why = hits.empty() ? "the removed comment is not there any more"
                       : "the removed comment is there more than once";
    return std::nullopt;
  }
  const Reindent shift{std::string(base.indentation(block.before_begin)),
                       std::string(there.indentation(hits[0])), base_style_, target_style_};
  return over_lines(hits[0], hits[0] + count, new_lines(block, shift));
}

}  // namespace patcher
