#include "patcher/report/diff_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/report/console.h"
#include "patcher/report/diff.h"
#include "patcher/text/align.h"
#include "patcher/text/printable.h"

namespace patcher {
namespace {

constexpr size_t kNumberWidth = 5;
// Beyond these nothing is compared by words: lines pair in order, and change as a whole. What is
// shown differs then in nicety only.
constexpr size_t kMaxWordCells = 1u << 14;
constexpr size_t kMaxLineCells = 1u << 10;
constexpr std::string_view kTab = "\t";

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_word_char(char c) {
  const auto u = static_cast<unsigned char>(c);
  return std::isalnum(u) != 0 || c == '_' || u >= 0x80;
}

std::vector<std::string_view> words(std::string_view line) {
  const auto kind = [](char c) { return is_word_char(c) ? 1 : c == ' ' || c == '\t' ? 2 : 0; };
  std::vector<std::string_view> out;
  for (size_t i = 0; i < line.size();) {
    size_t end = i + 1;
    while (kind(line[i]) != 0 && end < line.size() && kind(line[end]) == kind(line[i]))
      ++end;
    out.push_back(line.substr(i, end - i));
    i = end;
  }
  return out;
}

IndexPairs equal_words(const std::vector<std::string_view>& a,
                       const std::vector<std::string_view>& b) {
  if (a.size() * b.size() > kMaxWordCells) return {};
  return best_alignment(a.size(), b.size(), [&](size_t i, size_t j) {
    return a[i] == b[j] ? static_cast<float>(a[i].size()) : 0.f;
  });
}

// Twice the equal bytes over all bytes, without indentation.
float likeness(std::string_view a, std::string_view b) {
  const auto trimmed = [](std::string_view s) {
    s = without_end(s);
    return s.substr(std::min(s.find_first_not_of(" \t"), s.size()));
  };
  const auto x = words(trimmed(a));
  const auto y = words(trimmed(b));
  size_t common = 0;
  for (const auto& [i, j] : equal_words(x, y))
    common += x[i].size();
  const size_t all = trimmed(a).size() + trimmed(b).size();
  return all == 0 ? 0.f : 2.f * static_cast<float>(common) / static_cast<float>(all);
}

IndexPairs pairs_in_order(size_t n, size_t m) {
  IndexPairs pairs;
  for (size_t i = 0; i < std::min(n, m); ++i)
    pairs.emplace_back(i, i);
  return pairs;
}

void pair_change(const std::vector<const DiffLine*>& removed,
                 const std::vector<const DiffLine*>& added, std::vector<DiffRow>& rows) {
  const bool large = removed.size() * added.size() > kMaxLineCells;
  const auto pairs = large ? pairs_in_order(removed.size(), added.size())
                           : best_alignment(removed.size(), added.size(), [&](size_t i, size_t j) {
                               const float alike = likeness(removed[i]->text, added[j]->text);
                               return alike >= 0.4f ? alike : 0.f;
                             });
  size_t i = 0;
  size_t j = 0;
  const auto until = [&](size_t to_i, size_t to_j) {
    for (; i < to_i; ++i)
      rows.push_back({removed[i], nullptr});
    for (; j < to_j; ++j)
      rows.push_back({nullptr, added[j]});
  };
  for (const auto& [x, y] : pairs) {
    until(x, y);
    rows.push_back({removed[i++], added[j++]});
  }
  until(removed.size(), added.size());
}

Spans unpaired(const std::vector<std::string_view>& list, const std::vector<bool>& paired) {
  Spans spans;
  size_t at = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const size_t end = at + list[i].size();
    if (!paired[i] && !spans.empty() && spans.back().second == at) {
      spans.back().second = end;
    } else if (!paired[i]) {
      spans.emplace_back(at, end);
    }
    at = end;
  }
  return spans;
}

std::string with_reversed(std::string_view line, const Spans& spans) {
  std::string out;
  size_t at = 0;
  for (const auto& [begin, end] : spans) {
    out += line.substr(at, begin - at);
    out += styled(Style::kReverse, line.substr(begin, end - begin));
    at = end;
  }
  return out + std::string(line.substr(at));
}

// What differs in the left or the right line of a row, as they are shown; whole lines need no words
// marked.
Spans marked(const DiffRow& row, bool left, std::string_view kept = "") {
  if (row.left == nullptr || row.right == nullptr || row.left->kind == ' ') return {};
  auto spans = changed_words(shown_line(row.left->text, kept), shown_line(row.right->text, kept));
  return left ? spans.first : spans.second;
}

// One column: number and text, padded to its width.
std::string cell(const DiffLine* line, size_t number, size_t width, const Spans& spans,
                 Style style) {
  if (line == nullptr) return std::string(width, ' ');
  std::string text = shown_line(line->text);
  const size_t room = width - kNumberWidth - 2;
  const bool cut = columns_of(text) > room;
  if (cut) text = std::string(cut_to(text, room - 1)) + ">";
  const size_t padding = room - columns_of(text);
  const bool changed = line->kind != ' ';
  if (changed && style != Style::kPlain) {
    text = styled(style, with_reversed(text, cut ? Spans{} : spans));
  }
  return fmt::format("{:>{}} {}{}{}", number + 1, kNumberWidth, changed ? line->kind : ' ', text,
                     std::string(padding, ' '));
}

std::string columns(const DiffHunk& hunk, size_t width, bool color) {
  std::string out;
  for (const DiffRow& row : pair_rows(hunk)) {
    std::string line = cell(row.left, row.left != nullptr ? row.left->before_line : 0, width,
                            marked(row, true), color ? Style::kRemoved : Style::kPlain);
    line += " | ";
    line += cell(row.right, row.right != nullptr ? row.right->after_line : 0, width,
                 marked(row, false), color ? Style::kAdded : Style::kPlain);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string colored_line(const DiffLine& line, Style style, const Spans& spans) {
  const std::string text = with_reversed(shown_line(line.text, kTab), spans);
  const char* end = line.text.ends_with('\n') ? "" : "\\ No newline at end of file\n";
  return styled(style, line.kind + text) + "\n" + end;
}

std::string colored_hunk(const DiffHunk& hunk) {
  std::string out;
  std::string added;  // of the change at hand: after its removed lines
  for (const DiffRow& row : pair_rows(hunk)) {
    if (row.left != nullptr && row.left->kind == ' ') {
      out += std::exchange(added, {}) + colored_line(*row.left, Style::kPlain, {});
      continue;
    }
    if (row.left != nullptr) {
      out += colored_line(*row.left, Style::kRemoved, marked(row, true, kTab));
    }
    if (row.right != nullptr) {
      added += colored_line(*row.right, Style::kAdded, marked(row, false, kTab));
    }
  }
  return out + added;
}

}  // namespace

std::vector<DiffRow> pair_rows(const DiffHunk& hunk) {
  std::vector<DiffRow> rows;
  std::vector<const DiffLine*> removed;
  std::vector<const DiffLine*> added;
  const auto flush = [&] {
    pair_change(removed, added, rows);
    removed.clear();
    added.clear();
  };
  for (const DiffLine& line : hunk.lines) {
    if (line.kind == ' ') {
      flush();
      rows.push_back({&line, &line});
    } else {
      (line.kind == '-' ? removed : added).push_back(&line);
    }
  }
  flush();
  return rows;
}

std::pair<Spans, Spans> changed_words(std::string_view left, std::string_view right) {
  const auto a = words(left);
  const auto b = words(right);
  std::vector<bool> in_a(a.size());
  std::vector<bool> in_b(b.size());
  for (const auto& [i, j] : equal_words(a, b))
    in_a[i] = in_b[j] = true;
  return {unpaired(a, in_a), unpaired(b, in_b)};
}

std::string shown_line(std::string_view line, std::string_view kept) {
  return printable(without_end(line), kept);
}

std::string colored_diff(const PatchPlan& patch) {
  std::string out;
  for (const PatchedFile& file : changed_files(patch)) {
    std::string header = file_header(file);
    header.pop_back();
    out += styled(Style::kBold, header) + "\n";
    for (const DiffHunk& hunk : diff_hunks(file.old_bytes(), file.new_bytes()))
      out += styled(Style::kHeading, hunk_header(hunk)) + "\n" + colored_hunk(hunk);
  }
  return out;
}

std::string side_by_side(const PatchPlan& patch, size_t width, bool color) {
  const auto in_style = [&](Style style, const std::string& text) {
    return styled(color ? style : Style::kPlain, text) + "\n";
  };
  std::string out;
  for (const PatchedFile& file : changed_files(patch)) {
    out += in_style(Style::kBold, printable(file.path) + file.remark());
    for (const DiffHunk& hunk : diff_hunks(file.old_bytes(), file.new_bytes())) {
      out += in_style(Style::kHeading, hunk_header(hunk));
      out += columns(hunk, (width - 3) / 2, color);
    }
  }
  return out;
}

}  // namespace patcher
