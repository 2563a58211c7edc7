// A request that is refused, in the shape that OpenAI's clients know.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace engine::lane {

// The one exception of this room; what() is the message that the client reads.
struct ApiError : std::runtime_error {
  int status;         // HTTP
  std::string param;  // the field at fault, "messages[2].content"; may be empty
  std::string code;   // a stable word for programs; may be empty

  ApiError(int http_status, const std::string& message, std::string field = {},
           std::string word = {})
      : std::runtime_error(message),
        status(http_status),
        param(std::move(field)),
        code(std::move(word)) {}

  // {"error": {"message", "type", "param", "code"}}; what is empty is null. The type follows from
  // the status.
  nlohmann::ordered_json body() const;
};

// JSON text for the wire: always valid UTF-8, whatever bytes its strings hold.
std::string to_text(const nlohmann::ordered_json& json);

}  // namespace engine::lane
