// Strict JSON reading for this room's files: sizes and depth are limited, duplicate keys refused,
// and every error names the file and the place in it. Internal: other rooms do not include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "model/error.h"

namespace engine::model {

// The file's bytes. Throws ModelError if it is not a readable regular file of at most `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes);

// Throws ModelError with line and column.
nlohmann::json parse_json(std::string_view text, const std::filesystem::path& file,
                          std::size_t max_depth = 32);

// A value and where it stands; accessors throw ModelError "FILE: PLACE: expected .., found ..".
// A view: the json value and the path must outlive it.
class JsonNode {
 public:
  JsonNode(const nlohmann::json& value, const std::filesystem::path& file, std::string place = {})
      : value_(&value), file_(&file), place_(std::move(place)) {}

  const nlohmann::json& value() const { return *value_; }
  const std::filesystem::path& file() const { return *file_; }
  const std::string& place() const { return place_; }

  // Members of an object: `find` gives nothing where the member is absent or null.
  JsonNode at(std::string_view key) const;
  std::optional<JsonNode> find(std::string_view key) const;
  // REQUIRES: an array with that element.
  JsonNode element(std::size_t index) const;

  void require_object() const;
  std::size_t require_array() const;  // its length
  // Refuses an object with a member that is not listed.
  void require_only(std::initializer_list<std::string_view> keys) const;

  std::string string() const;
  bool boolean() const;
  // The member, or `otherwise` where it is absent or null.
  bool flag(std::string_view key, bool otherwise = false) const;
  std::uint64_t integer(std::uint64_t min, std::uint64_t max) const;
  double number() const;  // finite

  [[noreturn]] void fail(std::string_view reason) const;
  [[noreturn]] void fail_expected(std::string_view expected) const;

 private:
  const nlohmann::json* value_;
  const std::filesystem::path* file_;
  std::string place_;  // "a.b[3]"; empty at the top
};

}  // namespace engine::model
