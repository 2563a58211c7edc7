#include "lane/api_error.h"

namespace engine::lane {
namespace {

std::string_view type_of(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace

nlohmann::ordered_json ApiError::body() const {
  return {{"error",
           {{"message", what()},
            {"type", type_of(status)},
            {"param", or_null(param)},
            {"code", or_null(code)}}}};
}

std::string to_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace engine::lane
