#include "patcher/mail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "patcher/lines.h"
#include "patcher/mbox.h"

namespace patcher {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Also of what ends a line.
std::string_view trim_line(std::string_view s) {
  return trim(s, " \t\r\n");
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// RFC 2045 bodies; in a header (RFC 2047) `_` is a blank.
std::string quoted_printable(std::string_view text, bool header) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (header && text[i] == '_') {
      out += ' ';
    } else if (text[i] != '=') {
      out += text[i];
    } else if (text.substr(i).starts_with("=\n")) {
      i += 1;
    } else if (text.substr(i).starts_with("=\r\n")) {
      i += 2;
    } else if (i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += '=';
    }
  }
  return out;
}

std::string base64(std::string_view text) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t value = kLetters.find(c);
    if (value == std::string_view::npos) continue;
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xffffffU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xffU);
  }
  return out;
}

// "=?UTF-8?q?Pr=C3=A9fill?= more" -> text. Another charset stays as it is written.
std::string decode_words(std::string_view text) {
  std::string out;
  bool after_word = false;
  while (!text.empty()) {
    const size_t begin = text.find("=?");
    const size_t charset = begin == std::string_view::npos ? begin : text.find('?', begin + 2);
    const size_t encoding =
        charset == std::string_view::npos ? charset : text.find('?', charset + 1);
    const size_t end =
        encoding == std::string_view::npos ? encoding : text.find("?=", encoding + 1);
    if (end == std::string_view::npos) break;
    const std::string_view plain = text.substr(0, begin);
    if (!(after_word && trim_line(plain).empty())) out += plain;
    const std::string set = lower(text.substr(begin + 2, charset - begin - 2));
    const std::string how = lower(text.substr(charset + 1, encoding - charset - 1));
    const std::string_view word = text.substr(encoding + 1, end - encoding - 1);
    const bool known = (set == "utf-8" || set == "us-ascii") && (how == "q" || how == "b");
    out += !known       ? std::string(text.substr(begin, end + 2 - begin))
           : how == "q" ? quoted_printable(word, true)
                        : base64(word);
    after_word = true;
    text.remove_prefix(end + 2);
  }
  return out + std::string(text);
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

// The next line with its end.
std::string_view next_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
}

using Headers = std::map<std::string, std::string>;

// Takes the header lines off `text`; nothing when it does not begin as a mail does.
std::optional<Headers> take_headers(std::string_view& text) {
  std::string_view rest = text;
  Headers headers;
  if (rest.starts_with("From ")) rest.remove_prefix(next_line(rest).size());
  std::string* last = nullptr;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
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

bool starts_file(std::string_view text) {
  if (text.starts_with("diff --git ")) return true;
  if (!text.starts_with("--- ")) return false;
  text.remove_prefix(next_line(text).size());
  if (!text.starts_with("+++ ")) return false;
  text.remove_prefix(next_line(text).size());
  return text.starts_with("@@ -");
}

// Splits at the first file that begins at or after line `---` (of a mail) or anywhere.
void split(std::string_view text, bool at_rule, Mail& mail) {
  bool open = !at_rule;
  size_t at = 0;
  size_t body_end = std::string_view::npos;
  while (at < text.size()) {
    const std::string_view line = next_line(text.substr(at));
    if (open && starts_file(text.substr(at))) break;
    if (!open && trim_line(line) == "---" && line.front() == '-') {
      open = true;
      body_end = at;
    }
    at += line.size();
    ++mail.diff_line;
  }
  mail.body = trim_line(text.substr(0, std::min(body_end, at)));
  mail.diff = text.substr(at);
}

bool has_rule(std::string_view text) {
  return text.starts_with("---\n") || text.find("\n---\n") != std::string_view::npos;
}

}  // namespace

Mail read_mail(std::string_view text) {
  Mail mail;
  std::string plain;
  // A mail that went through a CRLF system: its own header lines say so.
  if (!text.empty() && next_line(text).ends_with("\r\n")) text = plain = without_crs(text);
  std::string_view rest = text;
  const auto headers = take_headers(rest);
  if (!headers) {
    split(text, false, mail);
    return mail;
  }
  mail.diff_line += static_cast<int>(std::count(
      text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.size() - rest.size()), '\n'));
  const auto get = [&](const char* key) {
    const auto it = headers->find(key);
    return it == headers->end() ? std::string() : it->second;
  };
  mail.subject = strip_tags(decode_words(get("subject")));
  if (lower(get("content-type")).starts_with("multipart/")) {
    mail.error = "the mail has several parts; save the patch alone";
    return mail;
  }
  std::string body(rest);
  const std::string encoding = lower(get("content-transfer-encoding"));
  if (encoding == "quoted-printable") body = quoted_printable(body, false);
  if (encoding == "base64") body = base64(body);
  if (!encoding.empty() && encoding.front() != '7' && encoding.front() != '8') {
    if (next_line(std::string_view(body)).ends_with("\r\n")) body = without_crs(body);
  }
  split(body, has_rule(body), mail);
  return mail;
}

}  // namespace patcher
