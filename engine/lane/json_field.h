// Reads a request's JSON; every fault is an ApiError 400 that names the field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lane/api_error.h"

namespace engine::lane {

// Objects keep the client's order of members. Nesting deeper than 64, more than 1,024 members in an
// object, broken JSON and text that is not UTF-8 are refused; of two members of one name the last
// counts.
nlohmann::ordered_json parse_body(std::string_view text);

// A value and its place in the request. A view: the JSON must outlive it.
class JsonField {
 public:
  explicit JsonField(const nlohmann::ordered_json& value, std::string place = {})
      : value_(&value), place_(std::move(place)) {}

  const nlohmann::ordered_json& value() const { return *value_; }
  const std::string& place() const { return place_; }

  // Members of an object; `find` gives nothing where the member is absent or null.
  std::optional<JsonField> find(std::string_view key) const;
  JsonField at(std::string_view key) const;
  // Elements of an array.
  std::vector<JsonField> elements() const;

  void require_object() const;
  // Refuses an object's first member, null ones aside, that is none of these.
  void allow_only(std::initializer_list<std::string_view> names) const;
  std::string string() const;
  bool boolean() const;
  std::int64_t integer(std::int64_t min, std::int64_t max) const;
  double number(double min, double max) const;

  [[noreturn]] void fail(std::string_view reason) const;
  [[noreturn]] void fail_unknown() const;
  [[noreturn]] void fail_expected(std::string_view expected) const;

 private:
  const nlohmann::ordered_json* value_;
  std::string place_;  // "messages[3].content"; empty at the top
};

}  // namespace engine::lane
