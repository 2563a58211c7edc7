#include "patcher/foreign/mbox.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "patcher/text/lines.h"

namespace patcher {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// "From 0123abc Mon Sep 17 00:00:00 2001", by its last `HH:MM:SS YYYY`.
bool is_from_line(std::string_view line) {
  if (!line.starts_with("From ")) return false;
  line = trim(line, " \t\r\n");
  const size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || colon < 9 || colon + 4 > line.size()) return false;
  for (const size_t at : {colon - 4, colon - 2, colon - 1, colon + 1, colon + 2}) {
    if (!is_digit(line[at])) return false;
  }
  const std::string_view year = trim(line.substr(colon + 3));
  int value = 0;
  std::from_chars(year.data(), year.data() + year.size(), value);
  return value > 90;
}

}  // namespace

bool is_header(std::string_view line) {
  const size_t colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 &&
         std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
           return c == '-' || std::isalnum(static_cast<unsigned char>(c));
         });
}

std::vector<MailText> split_mails(std::string_view text) {
  text = without_bom(text);
  std::vector<MailText> mails;
  MailText part{.text = text};
  const auto close = [&](size_t end) {
    part.text = part.text.substr(0, end);
    if (!trim(part.text, " \t\r\n").empty()) mails.push_back(part);
  };
  int line = 1;
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (is_from_line(text.substr(at, end - at))) {
      const size_t next = text.find('\n', end);
      if (is_header(text.substr(end, next == std::string_view::npos ? next : next - end))) {
        close(at - begin);
        begin = at;
        part = {.text = text.substr(at), .line = line};
      }
    }
    at = end;
  }
  close(text.size() - begin);
  if (mails.empty()) mails.push_back({.text = text});
  return mails;
}

}  // namespace patcher
