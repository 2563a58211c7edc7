#include "patcher/foreign/mail_coding.h"

#include <fmt/format.h>
#include <iconv.h>

#include <algorithm>
#include <cctype>

#include "patcher/text/lines.h"

namespace patcher {
namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool is_ascii_or_utf8(const std::string& charset) {
  return charset == "utf-8" || charset == "utf8" || charset == "us-ascii";
}

// A word of a header; those of UTF-8 may be cut inside of a letter.
std::string decoded_word(std::string_view word, const std::string& charset, bool quoted,
                         std::string& error) {
  std::string bytes = quoted ? quoted_printable(word, true) : base64(word);
  if (is_ascii_or_utf8(charset)) return bytes;
  return to_utf8(bytes, charset.substr(0, charset.find('*')), error).value_or(bytes);
}

// Nothing that iconv reads as more than a name.
bool is_charset_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == ':' || c == '+';
  });
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

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

std::string unflowed(std::string_view text, bool delsp) {
  std::string out;
  for (std::string_view line : text_lines(text)) {
    if (line == "-- ") {
      if (!out.empty() && !out.ends_with('\n')) out += '\n';
      out += "-- \n";
      continue;
    }
    if (line.starts_with(' ')) line.remove_prefix(1);
    const bool joined = line.ends_with(' ');
    out += joined && delsp ? line.substr(0, line.size() - 1) : line;
    if (!joined) out += '\n';
  }
  return out;
}

std::optional<std::string> to_utf8(std::string_view text, const std::string& charset,
                                   std::string& error) {
  const auto none = reinterpret_cast<iconv_t>(-1);  // NOLINT(performance-no-int-to-ptr): iconv's
  const iconv_t converter =
      is_charset_name(charset) ? ::iconv_open("UTF-8", charset.c_str()) : none;
  if (converter == none) {
    error = fmt::format("the mail's charset `{}` is not known", charset);
    return std::nullopt;
  }
  std::string bytes(text);
  std::string out(bytes.size() * 4 + 16, '\0');  // more than any charset's letters take
  char* from = bytes.data();
  char* to = out.data();
  size_t left = bytes.size();
  size_t room = out.size();
  constexpr auto kFailed = static_cast<size_t>(-1);
  const bool good = ::iconv(converter, &from, &left, &to, &room) != kFailed &&
                    ::iconv(converter, nullptr, nullptr, &to, &room) != kFailed;
  ::iconv_close(converter);
  out.resize(out.size() - room);
  if (good) return out;
  error = fmt::format("the mail has bytes that are none of its charset `{}`", charset);
  return std::nullopt;
}

std::string decode_words(std::string_view text, std::string& error) {
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
    if (!(after_word && trim(plain, " \t\r\n").empty())) out += plain;
    const std::string set = lower(text.substr(begin + 2, charset - begin - 2));
    const std::string how = lower(text.substr(charset + 1, encoding - charset - 1));
    const std::string_view word = text.substr(encoding + 1, end - encoding - 1);
    out += how == "q" || how == "b" ? decoded_word(word, set, how == "q", error)
                                    : std::string(text.substr(begin, end + 2 - begin));
    after_word = true;
    text.remove_prefix(end + 2);
  }
  return out + std::string(text);
}

}  // namespace patcher
