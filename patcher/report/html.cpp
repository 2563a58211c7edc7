#include "patcher/report/html.h"

#include <algorithm>
#include <array>

#include "patcher/syntax/code_words.h"
#include "patcher/text/printable.h"

namespace patcher {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

constexpr std::array<std::string_view, 4> kValues = {"false", "nullptr", "this", "true"};

std::string_view reference(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

char kind_of(const Token& token, std::string_view text) {
  if (token.comment) return 'c';
  const std::string_view word = token.text(text);
  if (word.ends_with('"') || word.ends_with('\'')) return 's';
  if (word[0] >= '0' && word[0] <= '9') return 'n';
  if (token.directive) return 'd';
  return (is_word(word) && !is_name(word)) || one_of(kValues, word) ? 'k' : ' ';
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = character_length(text);
    const bool control = is_control(text) && text[0] != '\t' && text[0] != '\n';
    if (length == 0 || control) {
      out += kReplacement;
    } else if (const std::string_view name = reference(text[0]); !name.empty()) {
      out += name;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

ColoredLines::ColoredLines(const Source& source)
    : source_(source), kind_(source.bytes().size(), ' ') {
  if (source.language() == Language::kLines) return;
  for (const Token& token : source_.tokens()) {
    const char kind = kind_of(token, source_.bytes());
    std::fill(kind_.begin() + token.begin, kind_.begin() + token.end, kind);
  }
}

std::string ColoredLines::line(size_t line, const Spans& changed) const {
  const uint32_t begin = source_.lines().begin(line);
  const std::string_view text = source_.lines().text(line);
  const auto is_changed = [&](size_t i) {
    return std::any_of(changed.begin(), changed.end(),
                       [&](const auto& s) { return s.first <= i && i < s.second; });
  };
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const char kind = kind_[begin + i];
    const bool mark = is_changed(i);
    size_t end = i + 1;
    while (end < text.size() && kind_[begin + end] == kind && is_changed(end) == mark)
      ++end;
    if (mark) out += "<mark>";
    if (kind != ' ') out += std::string("<b class=\"") + kind + "\">";
    out += html_escaped(text.substr(i, end - i));
    if (kind != ' ') out += "</b>";
    if (mark) out += "</mark>";
    i = end;
  }
  return out;
}

}  // namespace patcher
