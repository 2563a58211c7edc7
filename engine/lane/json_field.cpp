#include "lane/json_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace engine::lane {
namespace {

using nlohmann::ordered_json;

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxMembers = 1024;
constexpr std::size_t kShown = 80;

std::string shown(const ordered_json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  const std::string text = value.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

// Without the library's own "[json.exception...] " in front.
std::string reason_of(const ordered_json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t tag = text.find("] ");
  return std::string(tag == std::string_view::npos ? text : text.substr(tag + 2));
}

// Refuses, while a body is parsed, what would cost much more to hold than to send.
class ShapeLimits {
 public:
  bool operator()(int depth, ordered_json::parse_event_t event, ordered_json&) {
    if (depth > kMaxDepth)
      throw ApiError(400, fmt::format("the body is nested deeper than {} levels", kMaxDepth));
    // A new member is looked for among all that its object has: n members cost n * n / 2 looks.
    std::size_t& members = members_[static_cast<std::size_t>(depth)];
    if (event == ordered_json::parse_event_t::object_start) members_[next(depth)] = 0;
    if (event == ordered_json::parse_event_t::key && ++members > kMaxMembers)
      throw ApiError(400, fmt::format("an object has more than {} members", kMaxMembers));
    return true;
  }

 private:
  static std::size_t next(int depth) { return static_cast<std::size_t>(depth) + 1; }

  std::array<std::size_t, kMaxDepth + 2> members_{};  // of the open object at each depth
};

}  // namespace

ordered_json parse_body(std::string_view text) {
  try {
    return ordered_json::parse(text.begin(), text.end(), ShapeLimits());
  } catch (const ordered_json::exception& error) {
    throw ApiError(400, "the body is not JSON: " + reason_of(error));
  }
}

std::optional<JsonField> JsonField::find(std::string_view key) const {
  require_object();
  const auto member = value_->find(key);
  if (member == value_->end() || member->is_null()) return std::nullopt;
  return JsonField(*member, place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key));
}

JsonField JsonField::at(std::string_view key) const {
  if (const std::optional<JsonField> field = find(key)) return *field;
  throw ApiError(400,
                 fmt::format("\"{}\" is missing{}{}", key, place_.empty() ? "" : " in ", place_),
                 place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key));
}

std::vector<JsonField> JsonField::elements() const {
  if (!value_->is_array()) fail_expected("an array");
  std::vector<JsonField> fields;
  for (std::size_t i = 0; i < value_->size(); ++i)
    fields.emplace_back((*value_)[i], fmt::format("{}[{}]", place_, i));
  return fields;
}

void JsonField::require_object() const {
  if (!value_->is_object()) fail_expected("an object");
}

void JsonField::allow_only(std::initializer_list<std::string_view> names) const {
  require_object();
  for (const auto& [name, value] : value_->items()) {
    if (!value.is_null() && std::ranges::find(names, name) == names.end()) at(name).fail_unknown();
  }
}

std::string JsonField::string() const {
  if (!value_->is_string()) fail_expected("a string");
  return value_->get<std::string>();
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) fail_expected("true or false");
  return value_->get<bool>();
}

std::int64_t JsonField::integer(std::int64_t min, std::int64_t max) const {
  // An unsigned number above the signed range would come out negative.
  const bool representable =
      value_->is_number_integer() &&
      (!value_->is_number_unsigned() || value_->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!representable || value_->get<std::int64_t>() < min || value_->get<std::int64_t>() > max)
    fail_expected(fmt::format("an integer from {} to {}", min, max));
  return value_->get<std::int64_t>();
}

double JsonField::number(double min, double max) const {
  const bool in_range = value_->is_number() && std::isfinite(value_->get<double>()) &&
                        value_->get<double>() >= min && value_->get<double>() <= max;
  if (!in_range) fail_expected(fmt::format("a number from {} to {}", min, max));
  return value_->get<double>();
}

void JsonField::fail(std::string_view reason) const {
  throw ApiError(400, place_.empty() ? std::string(reason) : fmt::format("{}: {}", place_, reason),
                 place_);
}

void JsonField::fail_unknown() const {
  fail("this server does not know the field, or cannot honour it");
}

void JsonField::fail_expected(std::string_view expected) const {
  fail(fmt::format("expected {}, found {}", expected, shown(*value_)));
}

}  // namespace engine::lane
