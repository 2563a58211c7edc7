// The endpoints that generate.
#pragma once

#include <array>
#include <string_view>

namespace engine::lane {

enum class Endpoint { kChat, kCompletion, kResponses };

struct EndpointNames {
  Endpoint endpoint;
  std::string_view path;
  std::string_view label;  // in metrics and in the log
  std::string_view id;     // what a reply's id begins with
};

inline constexpr std::array<EndpointNames, 3> kEndpoints{
    {{Endpoint::kChat, "/v1/chat/completions", "chat", "chatcmpl-"},
     {Endpoint::kCompletion, "/v1/completions", "completions", "cmpl-"},
     {Endpoint::kResponses, "/v1/responses", "responses", "resp_"}}};

constexpr const EndpointNames& names_of(Endpoint endpoint) {
  return kEndpoints[static_cast<std::size_t>(endpoint)];
}

}  // namespace engine::lane
