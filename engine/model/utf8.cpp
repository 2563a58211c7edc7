#include "model/utf8.h"

namespace engine::model {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// Bytes of the character that `lead` begins; 0 if it begins none.
std::size_t length_of(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF.
bool second_fits(unsigned lead, unsigned second) {
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return second >= low && second <= high;
}

}  // namespace

Utf8Step utf8_step(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  const std::size_t length = length_of(lead);
  if (length == 0) return {Utf8::kInvalid, 1};
  for (std::size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {Utf8::kIncomplete, i};
    const unsigned next = byte_at(text, i);
    const bool fits = i == 1 ? second_fits(lead, next) : (next & 0xC0U) == 0x80;
    if (!fits) return {Utf8::kInvalid, i};
  }
  return {Utf8::kCharacter, length};
}

char32_t code_point(std::string_view character) {
  constexpr unsigned kLeadMask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t point = byte_at(character, 0) & kLeadMask[character.size()];
  for (std::size_t i = 1; i < character.size(); ++i) {
    point = point << 6U | (byte_at(character, i) & 0x3FU);
  }
  return point;
}

void append_character(std::string& text, char32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
    return;
  }
  const unsigned tails = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(kLead[tails] | point >> 6U * tails);
  for (unsigned left = tails; left-- > 0;)
    text += static_cast<char>(0x80U | (point >> 6U * left & 0x3FU));
}

std::string replace_invalid(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Utf8Step step = utf8_step(text);
    result += step.kind == Utf8::kCharacter ? text.substr(0, step.length) : kReplacementCharacter;
    text.remove_prefix(step.length);
  }
  return result;
}

std::size_t utf8_stretch(std::string_view text, bool valid) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Step step = utf8_step(text.substr(at));
    if ((step.kind == Utf8::kCharacter) != valid) break;
    at += step.length;
  }
  return at;
}

}  // namespace engine::model
