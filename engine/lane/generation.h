// One request that generates, from its body to its line in the log.
#pragma once

#include <httplib.h>

#include <functional>
#include <memory>
#include <string_view>

#include "lane/endpoint.h"
#include "lane/reply_writer.h"
#include "lane/service.h"

namespace engine::lane {

// What a generation needs from the server. Copied into replies that stream.
struct GenerationContext {
  Service& service;
  Service::Clock::time_point arrived;
  std::function<bool()> gone;  // the client has closed its connection
  bool takes_chunks;           // the client speaks HTTP/1.1
  bool log_prompts;
  std::function<void(std::string_view)> log;
};

class Generation : public std::enable_shared_from_this<Generation> {
 public:
  Generation(Endpoint endpoint, GenerationContext context);

  // Waits for its turn and answers with a whole reply, or lets `response` stream it. Never throws:
  // errors are answered.
  void answer(std::string_view body, httplib::Response& response);

 private:
  using Emit = std::function<void(const std::string&)>;

  void prepare(std::string_view body);
  void stream(httplib::DataSink& sink);
  std::vector<Outcome> generate(const Emit& emit, const std::function<bool()>& gone);
  const Served& served() const { return context_.service.served(); }
  void log_error(const ApiError& error) { log(error.status, error.code, nullptr); }
  void log(int status, std::string_view word, const Outcome* outcome);

  const EndpointNames& names_;
  const GenerationContext context_;
  const std::string id_;
  GenerationRequest request_;
  std::unique_ptr<ReplyWriter> writer_;
  std::optional<RequestQueue::Turn> turn_;
};

// Turns an error into the response.
void answer(const ApiError& error, httplib::Response& response);

}  // namespace engine::lane
