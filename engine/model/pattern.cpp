#include "model/pattern.h"

#include <utf8proc.h>

#include "model/library_unicode.h"
#include "model/oniguruma.h"
#include "model/utf8.h"

namespace engine::model {
namespace {

std::vector<Range> find_literal(std::string_view text, std::string_view literal) {
  std::vector<Range> result;
  for (std::size_t at = text.find(literal); at != std::string_view::npos;
       at = text.find(literal, at + literal.size())) {
    result.push_back({at, at + literal.size()});
  }
  return result;
}

std::vector<Range> find_kind(std::string_view text, Pattern::Kind kind) {
  std::vector<Range> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_step(text.substr(at)).length;
    if (kind(code_point(text.substr(at, length)))) result.push_back({at, at + length});
    at += length;
  }
  return result;
}

utf8proc_category_t category(char32_t point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

}  // namespace

Pattern Pattern::read(const JsonNode& node) {
  if (const auto regex = node.find("Regex")) {
    const std::string pattern = from_oniguruma(regex->string(), node.file(), regex->place());
    return Pattern(Regex(pattern, node.file(), regex->place()));
  }
  const JsonNode literal = node.at("String");
  if (literal.string().empty()) literal.fail("empty pattern");
  return Pattern(literal.string());
}

std::vector<Range> Pattern::matches(std::string_view text) const {
  if (const auto* const literal = std::get_if<std::string>(&what_))
    return find_literal(text, *literal);
  if (const auto* const kind = std::get_if<Kind>(&what_)) return find_kind(text, *kind);
  return std::get<Regex>(what_).matches(text);
}

bool is_white_space(char32_t point) {
  if (point < 0x80) return point == ' ' || (point >= '\t' && point <= '\r');
  const utf8proc_category_t kind = category(point);
  return point == 0x85 || (kind >= UTF8PROC_CATEGORY_ZS && kind <= UTF8PROC_CATEGORY_ZP);
}

bool is_number(char32_t point) {
  const utf8proc_category_t kind = category(point);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_word(char32_t point) {
  static const Regex word(R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}])", {}, "word");
  std::string text;
  append_character(text, point);
  return !word.matches(text).empty();
}

bool is_punctuation(char32_t point) {
  const utf8proc_category_t kind = category(point);
  if (point < 0x80 && kind >= UTF8PROC_CATEGORY_SM && kind <= UTF8PROC_CATEGORY_SO) return true;
  if (point == 0x166D || point == 0x111C9) return true;  // until version 8
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO &&
         !is_later_than_punctuation(point);
}

}  // namespace engine::model
