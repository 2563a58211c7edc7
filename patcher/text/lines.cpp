#include "patcher/text/lines.h"

#include <algorithm>
#include <cctype>

namespace patcher {

Lines::Lines(std::string_view text) : source_(text) {
  starts_.push_back(0);
  for (size_t i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1)) {
    if (i + 1 < text.size()) starts_.push_back(static_cast<uint32_t>(i + 1));
  }
}

size_t Lines::line_of(uint32_t byte) const {
  const auto it = std::upper_bound(starts_.begin(), starts_.end(), byte);
  return static_cast<size_t>(it - starts_.begin()) - 1;
}

uint32_t Lines::end(size_t line) const {
  return line + 1 < starts_.size() ? starts_[line + 1] : static_cast<uint32_t>(source_.size());
}

uint32_t Lines::text_end(size_t line) const {
  return end(line) - static_cast<uint32_t>(line_end(line).size());
}

std::string_view Lines::text(size_t line) const {
  return source_.substr(begin(line), text_end(line) - begin(line));
}

std::string_view Lines::line_end(size_t line) const {
  const std::string_view whole = source_.substr(begin(line), end(line) - begin(line));
  if (whole.ends_with("\r\n")) return "\r\n";
  return whole.ends_with('\n') ? "\n" : "";
}

std::string_view Lines::indentation(size_t line) const {
  size_t first = begin(line);
  if (line == 0 && source_.starts_with("\xEF\xBB\xBF")) first = 3;
  size_t last = first;
  while (last < source_.size() && (source_[last] == ' ' || source_[last] == '\t'))
    ++last;
  return source_.substr(first, last - first);
}

std::vector<std::string_view> text_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(without_cr(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::string_view without_bom(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

std::string_view trim(std::string_view s, std::string_view blanks) {
  const size_t first = s.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(blanks) - first + 1);
}

std::string_view without_cr(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string with_last_newline(std::string text, bool ended) {
  if (ended) {
    const size_t end = text.rfind('\n');
    const bool cr = end != std::string::npos && end > 0 && text[end - 1] == '\r';
    return text + (cr ? "\r\n" : "\n");
  }
  text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

size_t letters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; }));
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto in_word = [&](size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + word.size())) return true;
  }
  return false;
}

std::string without_blanks(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return c != ' ' && c != '\t' && c != '\r' && c != '\n'; });
  return out;
}

}  // namespace patcher
