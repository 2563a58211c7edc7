#include "model/normalizer.h"

#include <utf8proc.h>

#include "model/utf8.h"

namespace engine::model {
namespace {

std::string lower(std::string_view text) {
  constexpr char32_t kCapitalIWithDot = 0x130;  // the one whose lower case is two characters
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_step(text).length;
    const char32_t point = code_point(text.substr(0, length));
    if (point == kCapitalIWithDot) {
      result += "i\xCC\x87";
    } else {
      append_character(
          result, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))));
    }
    text.remove_prefix(length);
  }
  return result;
}

bool is_blank(std::string_view text, std::size_t at, std::size_t length) {
  return utf8_step(text.substr(at)).kind == Utf8::kCharacter &&
         is_white_space(code_point(text.substr(at, length)));
}

std::string_view strip_left(std::string_view text) {
  while (!text.empty() && is_blank(text, 0, utf8_step(text).length))
    text.remove_prefix(utf8_step(text).length);
  return text;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80)
      --begin;
    if (!is_blank(text, begin, text.size() - begin)) break;
    text = text.substr(0, begin);
  }
  return text;
}

// Applies `step` to each stretch that is UTF-8.
template <typename Step>
std::string on_characters(std::string_view text, const Step& step) {
  std::string result;
  for (bool valid = true; !text.empty(); valid = !valid) {
    const std::string_view stretch = text.substr(0, utf8_stretch(text, valid));
    if (valid && !stretch.empty()) {
      result += step(stretch);
    } else {
      result += stretch;
    }
    text.remove_prefix(stretch.size());
  }
  return result;
}

}  // namespace

std::string replace_all(std::string_view text, const Pattern& pattern, std::string_view content) {
  std::string result;
  std::size_t done = 0;
  for (const Range match : pattern.matches(text)) {
    result += text.substr(done, match.begin - done);
    result += content;
    done = match.end;
  }
  result += text.substr(done);
  return result;
}

Normalizer Normalizer::read(const std::optional<JsonNode>& node) {
  Normalizer result;
  if (node) result.add(*node);
  return result;
}

void Normalizer::add(const JsonNode& node) {
  const JsonNode type = node.at("type");
  const std::string name = type.string();
  if (name == "Sequence") {
    const JsonNode list = node.at("normalizers");
    for (std::size_t i = 0, count = list.require_array(); i < count; ++i)
      add(list.element(i));
  } else if (name == "NFC" || name == "NFD" || name == "NFKC" || name == "NFKD") {
    steps_.emplace_back(NormalForm{name.back() == 'C', name.size() == 4});
  } else if (name == "Lowercase") {
    steps_.emplace_back(Lowercase{});
  } else if (name == "Strip") {
    steps_.emplace_back(Strip{node.at("strip_left").boolean(), node.at("strip_right").boolean()});
  } else if (name == "Prepend") {
    steps_.emplace_back(Prepend{node.at("prepend").string()});
  } else if (name == "Replace") {
    steps_.emplace_back(Replace{Pattern::read(node.at("pattern")), node.at("content").string()});
  } else {
    type.fail_expected(
        "\"NFC\", \"NFD\", \"NFKC\", \"NFKD\", \"Lowercase\", \"Strip\", \"Prepend\", \"Replace\" "
        "or \"Sequence\"");
  }
}

std::string Normalizer::run(const Step& step, std::string_view text) {
  if (const auto* const form = std::get_if<NormalForm>(&step))
    return on_characters(text, [&](std::string_view part) { return to_normal_form(part, *form); });
  if (std::holds_alternative<Lowercase>(step)) return on_characters(text, lower);
  if (const auto* const strip = std::get_if<Strip>(&step)) {
    if (strip->left) text = strip_left(text);
    return std::string(strip->right ? strip_right(text) : text);
  }
  if (const auto* const prepend = std::get_if<Prepend>(&step))
    return text.empty() ? std::string() : prepend->text + std::string(text);
  const auto& [pattern, content] = std::get<Replace>(step);
  if (pattern.literal() != nullptr) return replace_all(text, pattern, content);
  return on_characters(text,
                       [&](std::string_view part) { return replace_all(part, pattern, content); });
}

std::string Normalizer::apply(std::string_view text) const {
  std::string result(text);
  for (const Step& step : steps_)
    result = run(step, result);
  return result;
}

}  // namespace engine::model
