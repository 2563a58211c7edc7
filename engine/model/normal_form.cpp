#include "model/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "model/library_unicode.h"
#include "model/utf8.h"

namespace engine::model {
namespace {

constexpr std::size_t kLongestDecomposition = 32;  // code points; Unicode's longest has 18

using Points = std::vector<utf8proc_int32_t>;

int combining_class(utf8proc_int32_t point) {
  return utf8proc_get_property(point)->combining_class;
}

void decompose(char32_t point, utf8proc_option_t options, Points& out) {
  std::array<utf8proc_int32_t, kLongestDecomposition> parts{};
  int boundary = UTF8PROC_BOUNDCLASS_START;
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(point), parts.data(), parts.size(), options, &boundary);
  if (count < 0 || static_cast<std::size_t>(count) > parts.size())
    throw std::logic_error("utf8proc: a character does not decompose");
  out.insert(out.end(), parts.begin(), parts.begin() + count);
}

// utf8proc's own sort of marks takes quadratic time, which a text of marks alone would show.
void sort_marks(Points& points) {
  const auto is_mark = [](utf8proc_int32_t point) { return combining_class(point) != 0; };
  for (auto at = points.begin(); at != points.end();) {
    const auto first = std::find_if(at, points.end(), is_mark);
    at = std::find_if_not(first, points.end(), is_mark);
    std::ranges::stable_sort(first, at, {}, combining_class);
  }
}

// What was decomposed, in order, composed if the form asks for it.
void append(Points& points, NormalForm form, std::string& out) {
  sort_marks(points);
  if (form.compose) {
    constexpr auto kCompose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    const utf8proc_ssize_t count = utf8proc_normalize_utf32(
        points.data(), static_cast<utf8proc_ssize_t>(points.size()), kCompose);
    points.resize(static_cast<std::size_t>(count));
  }
  for (const utf8proc_int32_t point : points)
    append_character(out, static_cast<char32_t>(point));
  points.clear();
}

}  // namespace

// A character that the library does not know begins anew, as every one without a class does.
std::string to_normal_form(std::string_view text, NormalForm form) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return std::string(text);
  int flags = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
  if (form.compatibility) flags |= UTF8PROC_COMPAT;
  Points points;
  points.reserve(text.size());
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_step(text).length;
    const char32_t point = code_point(text.substr(0, length));
    if (is_later_than_normalizer(point)) {
      append(points, form, result);
      append_character(result, point);
    } else {
      decompose(point, static_cast<utf8proc_option_t>(flags), points);
    }
    text.remove_prefix(length);
  }
  append(points, form, result);
  return result;
}

}  // namespace engine::model
