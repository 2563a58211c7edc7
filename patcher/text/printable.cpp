#include "patcher/text/printable.h"

#include <utf8proc.h>

#include <algorithm>

namespace patcher {
namespace {

struct Character {
  size_t bytes = 0;  // 0: the text does not begin with UTF-8
  utf8proc_int32_t code = -1;
};

Character first_character(std::string_view text) {
  Character c;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto length = utf8proc_iterate(bytes, std::ssize(text), &c.code);
  if (length > 0) c.bytes = static_cast<size_t>(length);
  return c;
}

}  // namespace

size_t character_length(std::string_view text) {
  return first_character(text).bytes;
}

bool is_control(std::string_view text) {
  const Character c = first_character(text);
  if (c.bytes > 0) return utf8proc_category(c.code) == UTF8PROC_CATEGORY_CC;
  return static_cast<unsigned char>(text[0]) < 0xA0;
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string out;
  while (!text.empty()) {
    const size_t length = std::max<size_t>(character_length(text), 1);
    const bool keep = !is_control(text) || kept.find(text[0]) != std::string_view::npos;
    out += keep ? text.substr(0, length) : " ";
    text.remove_prefix(length);
  }
  return out;
}

std::string_view cut_to(std::string_view text, size_t columns) {
  size_t at = 0;
  while (at < text.size()) {
    const Character c = first_character(text.substr(at));
    const size_t width = c.bytes > 0 ? static_cast<size_t>(utf8proc_charwidth(c.code)) : 1;
    if (width > columns) break;
    columns -= width;
    at += std::max<size_t>(c.bytes, 1);
  }
  return text.substr(0, at);
}

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character c = first_character(text);
    columns += c.bytes > 0 ? static_cast<size_t>(utf8proc_charwidth(c.code)) : 1;
    text.remove_prefix(std::max<size_t>(c.bytes, 1));
  }
  return columns;
}

}  // namespace patcher
