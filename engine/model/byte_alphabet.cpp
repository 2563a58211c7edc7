#include "model/byte_alphabet.h"

#include "model/utf8.h"

namespace engine::model {
namespace {

constexpr int kNoByte = -1;

constexpr std::array<int, kByteAlphabetEnd> make_inverse() {
  std::array<int, kByteAlphabetEnd> inverse{};
  inverse.fill(kNoByte);
  for (int byte = 0; byte < 256; ++byte)
    inverse[kByteAlphabet[byte]] = byte;
  return inverse;
}

constexpr std::array<int, kByteAlphabetEnd> kInverse = make_inverse();

}  // namespace

std::string to_alphabet(std::string_view bytes) {
  std::string text;
  for (const char c : bytes)
    append_character(text, kByteAlphabet[static_cast<unsigned char>(c)]);
  return text;
}

std::optional<std::string> from_alphabet(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::size_t length = utf8_step(text).length;
    const char32_t point = code_point(text.substr(0, length));
    if (point >= kByteAlphabetEnd || kInverse[point] == kNoByte) return std::nullopt;
    bytes += static_cast<char>(kInverse[point]);
    text.remove_prefix(length);
  }
  return bytes;
}

}  // namespace engine::model
