#include "patcher/report/text_columns.h"

#include <clocale>
#include <cwchar>

namespace patcher {
namespace {

// This thread's locale while it lives, if the system has it.
class Utf8Locale {
 public:
  Utf8Locale() : before_(utf8() != nullptr ? ::uselocale(utf8()) : nullptr) {}
  ~Utf8Locale() {
    if (before_ != nullptr) ::uselocale(before_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;
  explicit operator bool() const { return before_ != nullptr; }

 private:
  // Made once and kept: every line asks for it.
  static locale_t utf8() {
    static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }
  locale_t before_;
};

struct Character {
  size_t bytes = 1;
  size_t columns = 1;
};

Character code_point(std::string_view text) {
  Character c;
  while (c.bytes < text.size() && (text[c.bytes] & 0xC0) == 0x80)
    ++c.bytes;
  return c;
}

// REQUIRES a text that is not empty.
Character first_character(std::string_view text, const Utf8Locale& utf8) {
  if (!utf8) return code_point(text);
  wchar_t wide = 0;
  std::mbstate_t state{};
  const size_t bytes = std::mbrtowc(&wide, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) return {};  // NUL, or no UTF-8
  const int columns = ::wcwidth(wide);
  return {bytes, columns < 0 ? 1 : static_cast<size_t>(columns)};
}

}  // namespace

size_t columns_of(std::string_view text) {
  const Utf8Locale utf8;
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at), utf8);
    columns += c.columns;
    at += c.bytes;
  }
  return columns;
}

std::string_view cut_to(std::string_view text, size_t columns) {
  const Utf8Locale utf8;
  size_t at = 0;
  while (at < text.size()) {
    const Character c = first_character(text.substr(at), utf8);
    if (c.columns > columns) break;
    columns -= c.columns;
    at += c.bytes;
  }
  return text.substr(0, at);
}

}  // namespace patcher
