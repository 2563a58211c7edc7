#include "patcher/foreign/mail_coding.h"

#include <fmt/format.h>
#include <iconv.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>

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
  const std::string bytes = quoted ? quoted_printable(word, true) : base64(word);
  if (is_ascii_or_utf8(charset)) return bytes;
  return to_utf8(bytes, charset.substr(0, charset.find('*')), error).value_or(bytes);
}

// iconv's handle for one conversion to UTF-8.
class Converter {
 public:
  explicit Converter(const std::string& charset)
      : handle_(::iconv_open("UTF-8", charset.c_str())) {}
  ~Converter() {
    if (known()) ::iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  bool known() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  std::optional<std::string> run(std::string_view text) {
    std::string bytes(text);
    char* from = bytes.data();
    size_t left = bytes.size();
    std::string out;
    while (left > 0) {
      if (!step(&from, &left, out)) return std::nullopt;
    }
    step(nullptr, nullptr, out);
    return out;
  }

 private:
  bool step(char** from, size_t* left, std::string& out) {
    std::array<char, 4096> piece{};
    char* to = piece.data();
    size_t room = piece.size();
    const bool good = ::iconv(handle_, from, left, &to, &room) != static_cast<size_t>(-1);
    const bool full = !good && errno == E2BIG && room < piece.size();
    out.append(piece.data(), piece.size() - room);
    return good || full;
  }

  iconv_t handle_;
};

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
  for (; !text.empty();) {
    const size_t end = text.find('\n');
    std::string_view line = without_cr(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
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
  if (is_charset_name(charset)) {
    Converter converter(charset);
    if (converter.known()) {
      auto out = converter.run(text);
      if (!out)
        error = fmt::format("the mail has bytes that are none of its charset `{}`", charset);
      return out;
    }
  }
  error = fmt::format("the mail's charset `{}` is not known", charset);
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
