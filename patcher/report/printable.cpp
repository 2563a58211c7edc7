#include "patcher/report/printable.h"

#include <algorithm>

namespace patcher {

size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xC0) != 0x80) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool outside = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : length;
}

bool is_control(std::string_view text) {
  const auto c = static_cast<unsigned char>(text[0]);
  if (c < 0x20 || c == 0x7f) return true;
  const size_t length = character_length(text);
  if (length == 0) return c >= 0x80 && c < 0xA0;
  return c == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
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

}  // namespace patcher
