// POST /v1/chat/completions and /v1/completions, once the body is read.
#pragma once

#include <httplib.h>

#include <functional>
#include <string_view>

#include "lane/request_fields.h"
#include "lane/server.h"

namespace engine::lane {

std::string_view path_of(Endpoint endpoint);
// In metrics and in the log.
std::string_view label_of(Endpoint endpoint);

// What a generation needs from the server. Copied into replies that stream.
struct GenerationContext {
  Service& service;
  Service::Clock::time_point arrived;
  std::function<bool()> gone;  // the client has closed its connection
  bool takes_chunks;           // the client speaks HTTP/1.1
  bool log_prompts;
  std::function<void(std::string_view)> log;
};

// Answers with a whole reply, or lets `response` stream it. Never throws: errors are answered.
void generate_reply(Endpoint endpoint, std::string_view body, const GenerationContext& context,
                    httplib::Response& response);

// Turns an error into the response.
void answer(const ApiError& error, httplib::Response& response);

}  // namespace engine::lane
