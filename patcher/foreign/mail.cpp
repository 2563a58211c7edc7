#include "patcher/foreign/mail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "patcher/foreign/diff_start.h"
#include "patcher/foreign/mail_coding.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

// Also of what ends a line.
std::string_view trim_line(std::string_view s) {
  return trim(s, " \t\r\n");
}

std::string strip_tags(std::string_view subject) {
  subject = trim_line(subject);
  while (subject.starts_with('[') || lower(subject.substr(0, 3)) == "re:") {
    const size_t end = subject.find(subject.front() == '[' ? ']' : ':');
    if (end == std::string_view::npos) break;
    subject = trim_line(subject.substr(end + 1));
  }
  return std::string(subject);
}

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

// Whether the line names its field, as in "Content-Type: text/plain".
bool is_header(std::string_view line) {
  const size_t colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 &&
         std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
           return c == '-' || std::isalnum(static_cast<unsigned char>(c));
         });
}

using Headers = std::map<std::string, std::string>;

// Takes the header lines off `text`; nothing when it does not begin as a mail does.
std::optional<Headers> take_headers(std::string_view& text) {
  std::string_view rest = text;
  Headers headers;
  if (rest.starts_with("From ")) rest.remove_prefix(first_line(rest).size());
  std::string* last = nullptr;
  while (!rest.empty()) {
    const std::string_view line = first_line(rest);
    if (trim_line(line).empty()) break;
    if ((line.front() == ' ' || line.front() == '\t') && last != nullptr) {
      *last += " " + std::string(trim_line(line));
    } else if (is_header(line)) {
      const size_t colon = line.find(':');
      last = &headers[lower(line.substr(0, colon))];
      *last = trim_line(line.substr(colon + 1));
    } else {
      return std::nullopt;
    }
    rest.remove_prefix(line.size());
  }
  if (!headers.contains("from") || !headers.contains("subject")) return std::nullopt;
  text = rest;
  return headers;
}

std::string without_crs(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!text.substr(i).starts_with("\r\n")) out += text[i];
  }
  return out;
}

// Where the line `---` stands that ends a mail's message. One among a hunk's lines, as its header
// counts them, is a removed `--`.
size_t rule_at(std::string_view text) {
  HunkHeader left;
  for (size_t at = 0; at < text.size();) {
    const std::string_view line = first_line(text.substr(at));
    const char mark = trim_line(line).empty() ? ' ' : line.front();
    if (left.take(mark)) {
      // One of the hunk's.
    } else if (line.front() == '-' && trim_line(line) == "---") {
      return at;
    } else if (mark != '\\') {
      left = hunk_header(line).value_or(HunkHeader{});
    }
    at += line.size();
  }
  return std::string_view::npos;
}

// Splits at the first file that begins at or after line `---` (of a mail) or anywhere.
void split(std::string_view text, size_t rule, Mail& mail) {
  size_t at = rule == std::string_view::npos ? 0 : rule;
  while (at < text.size() && !starts_diff(text.substr(at)))
    at += first_line(text.substr(at)).size();
  mail.diff_line += static_cast<int>(
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  mail.body = trim_line(text.substr(0, std::min(rule, at)));
  mail.diff = text.substr(at);
}

// "iso-8859-1" of "text/plain; charset=ISO-8859-1" and "charset"
std::string parameter(std::string_view content_type, const std::string& name) {
  const std::string type = lower(content_type);
  const size_t at = type.find(name + "=");
  if (at == std::string::npos) return {};
  const std::string_view value = std::string_view(type).substr(at + name.size() + 1);
  return std::string(trim(value.substr(0, value.find(';')), " \t\"'"));
}

// As git reads it the message is text and becomes UTF-8, and the diff is bytes. Where a diff has
// letters that the mail spells in another charset, the mail cannot say which it means.
void decode_letters(const std::string& charset, Mail& mail) {
  if (charset.empty() || charset == "us-ascii") return;
  const auto body = to_utf8(mail.body, charset, mail.error);
  if (!body) return;
  mail.body = *body;
  if (charset == "utf-8" || charset == "utf8") return;
  std::string undecodable;
  if (to_utf8(mail.diff, charset, undecodable) == mail.diff) return;
  const auto odd = std::find_if(mail.diff.begin(), mail.diff.end(),
                                [](unsigned char c) { return c >= 0x80 || c == '\x1b'; });
  mail.error_line = mail.diff_line + static_cast<int>(std::count(mail.diff.begin(), odd, '\n'));
  mail.error = fmt::format(
      "the diff has letters in the mail's charset `{}`, and the tree's may be another; save the "
      "diff alone, in the bytes of the tree",
      charset);
}

// The body without its transfer encoding.
std::string decoded(std::string_view body, const std::string& encoding) {
  std::string out = encoding == "quoted-printable" ? quoted_printable(body, false)
                    : encoding == "base64"         ? base64(body)
                                                   : std::string(body);
  const bool was_encoded = encoding == "quoted-printable" || encoding == "base64";
  if (was_encoded && first_line(out).ends_with("\r\n")) out = without_crs(out);
  return out;
}

}  // namespace

bool is_mail(std::string_view text) {
  return take_headers(text).has_value();
}

Mail read_mail(std::string_view text) {
  Mail mail;
  std::string plain;
  // A mail that went through a CRLF system: its own header lines say so.
  if (first_line(text).ends_with("\r\n")) text = plain = without_crs(text);
  std::string_view rest = text;
  const auto headers = take_headers(rest);
  if (!headers) {
    split(text, std::string_view::npos, mail);
    return mail;
  }
  mail.diff_line += static_cast<int>(std::count(
      text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.size() - rest.size()), '\n'));
  const auto get = [&](const char* key) {
    const auto it = headers->find(key);
    return it == headers->end() ? std::string() : it->second;
  };
  mail.subject = strip_tags(decode_words(get("subject"), mail.error));
  if (lower(get("content-type")).starts_with("multipart/")) {
    mail.error = "the mail has several parts; save the patch alone";
  }
  if (!mail.error.empty()) return mail;
  const std::string type = get("content-type");
  std::string body = decoded(rest, lower(get("content-transfer-encoding")));
  if (parameter(type, "format") == "flowed") {
    body = unflowed(body, parameter(type, "delsp") == "yes");
  }
  const size_t rule = rule_at(body);
  mail.unruled = rule == std::string::npos;
  split(body, rule, mail);
  decode_letters(parameter(type, "charset"), mail);
  return mail;
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
