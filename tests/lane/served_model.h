// A lane over a small random model, and requests to it.
#pragma once

#include <string>

#include "lane/json_field.h"
#include "lane/request.h"
#include "runtime/test_network.h"

namespace engine::lane::testing {

inline Served served_micro(std::size_t context = 640) {
  const model::Model& model = runtime::testing::loaded().model;
  return {model, "micro", context, 64, ToolFormat::of(model), {}};
}

inline GenerationRequest chat_request(const std::string& body, const Served& served) {
  const nlohmann::ordered_json json = parse_body(body);
  return read_chat(JsonField(json), served);
}

inline GenerationRequest completion_request(const std::string& body, const Served& served) {
  const nlohmann::ordered_json json = parse_body(body);
  return read_completion(JsonField(json), served);
}

// "STATUS PARAM: MESSAGE" of the ApiError that `action` throws.
template <typename Action>
std::string fault_of(Action&& action) {
  try {
    action();
  } catch (const ApiError& error) {
    return std::to_string(error.status) + " " + error.param + ": " + error.what();
  }
  return "no error";
}

inline const std::string kTools =
    R"("tools": [{"type": "function", "function": {"name": "read_file", "parameters":
       {"type": "object", "properties": {"path": {"type": "string"}}}}}])";

}  // namespace engine::lane::testing
