// The printable stand-ins that byte-level BPE files write for bytes: GPT-2's bytes_to_unicode.
// Bytes that Latin-1 prints stand for themselves; the others, in order, for U+0100 and up.
// Internal.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace engine::model {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

// Code point that stands for each byte.
constexpr std::array<char32_t, 256> make_byte_alphabet() {
  std::array<char32_t, 256> alphabet{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    alphabet[byte] = stands_for_itself(byte) ? byte : next++;
  }
  return alphabet;
}

inline constexpr std::array<char32_t, 256> kByteAlphabet = make_byte_alphabet();
inline constexpr std::size_t kByteAlphabetEnd = 0x144;  // one past its largest code point

// Bytes to stand-ins.
std::string to_alphabet(std::string_view bytes);

// Stand-ins to bytes; nothing if a character stands for no byte.  REQUIRES: valid UTF-8.
std::optional<std::string> from_alphabet(std::string_view text);

}  // namespace engine::model
