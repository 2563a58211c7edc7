#include "model/json_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <unordered_set>
#include <vector>

namespace engine::model {
namespace {

using nlohmann::json;

// Watches a parse: nesting, and names that an object has twice.
class Strictness {
 public:
  explicit Strictness(std::size_t max_depth) : max_depth_(max_depth) {}

  void see(json::parse_event_t event, const json& parsed) {
    using Event = json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) enter();
    if (event == Event::object_end || event == Event::array_end) names_.pop_back();
    if (event == Event::key) add_name(parsed.get_ref<const std::string&>());
  }

 private:
  void enter() {
    if (names_.size() == max_depth_) {
      throw std::length_error(fmt::format("nested deeper than {} levels", max_depth_));
    }
    names_.emplace_back();
  }

  void add_name(const std::string& name) {
    if (!names_.back().insert(name).second) {
      throw std::length_error(fmt::format("\"{}\" occurs twice in one object", name));
    }
  }

  std::size_t max_depth_;
  std::vector<std::unordered_set<std::string>> names_;
};

// Without the library's "[json.exception..] " tag.
std::string_view reason(const json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t tag = text.find("] ");
  return tag == std::string_view::npos ? text : text.substr(tag + 2);
}

std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw ModelError(path, "no such file");
  if (!std::filesystem::is_regular_file(status)) throw ModelError(path, "not a regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw ModelError(path, error.message());
  if (size > max_bytes) {
    throw ModelError(path, fmt::format("{} bytes; at most {} are read", size, max_bytes));
  }
  std::ifstream in(path, std::ios::binary);
  std::string text(size, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(size))) {
    throw ModelError(path, "cannot be read");
  }
  return text;
}

json parse_json(std::string_view text, const std::filesystem::path& file, std::size_t max_depth) {
  Strictness strictness(max_depth);
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    strictness.see(event, parsed);
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), watch);
  } catch (const json::exception& error) {
    throw ModelError(file, reason(error));
  } catch (const std::length_error& error) {
    throw ModelError(file, error.what());
  }
}

JsonNode JsonNode::at(std::string_view key) const {
  require_object();
  const auto member = value_->find(key);
  if (member == value_->end()) fail(fmt::format("\"{}\" is missing", key));
  return {*member, *file_, place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key)};
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  require_object();
  const auto member = value_->find(key);
  if (member == value_->end() || member->is_null()) return std::nullopt;
  return at(key);
}

JsonNode JsonNode::element(std::size_t index) const {
  return {(*value_)[index], *file_, fmt::format("{}[{}]", place_, index)};
}

void JsonNode::require_object() const {
  if (!value_->is_object()) fail_expected("an object");
}

std::size_t JsonNode::require_array() const {
  if (!value_->is_array()) fail_expected("an array");
  return value_->size();
}

void JsonNode::require_only(std::initializer_list<std::string_view> keys) const {
  require_object();
  for (const auto& [key, unused] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      fail(fmt::format("unknown key \"{}\"; known: {}", key, fmt::join(keys, ", ")));
    }
  }
}

std::string JsonNode::string() const {
  if (!value_->is_string()) fail_expected("a string");
  return value_->get<std::string>();
}

bool JsonNode::boolean() const {
  if (!value_->is_boolean()) fail_expected("true or false");
  return value_->get<bool>();
}

bool JsonNode::flag(std::string_view key, bool otherwise) const {
  const auto node = find(key);
  return node ? node->boolean() : otherwise;
}

std::uint64_t JsonNode::integer(std::uint64_t min, std::uint64_t max) const {
  const bool in_range = value_->is_number_unsigned() && value_->get<std::uint64_t>() >= min &&
                        value_->get<std::uint64_t>() <= max;
  if (!in_range) fail_expected(fmt::format("an integer from {} to {}", min, max));
  return value_->get<std::uint64_t>();
}

double JsonNode::number() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>())) fail_expected("a number");
  return value_->get<double>();
}

void JsonNode::fail(std::string_view reason) const {
  throw ModelError(*file_,
                   place_.empty() ? std::string(reason) : fmt::format("{}: {}", place_, reason));
}

void JsonNode::fail_expected(std::string_view expected) const {
  fail(fmt::format("expected {}, found {}", expected, shown(*value_)));
}

}  // namespace engine::model
