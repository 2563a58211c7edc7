// A server on a free port over a small random model, and requests to it.
#pragma once

#include <httplib.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lane/served_model.h"
#include "lane/server.h"

namespace engine::lane::testing {

using nlohmann::ordered_json;

inline const std::string kChat = "/v1/chat/completions";

struct Answer {
  int status = 0;
  ordered_json json;
  std::string body;
};

class LiveLane {
 public:
  struct Options {
    std::size_t context = 640;
    ServerOptions server;
    Service::Limits limits;
    bool attached = true;
  };

  LiveLane() : LiveLane(Options{}) {}
  explicit LiveLane(Options options)
      : engine_(runtime::testing::SmallEngine{.context = options.context}.make()),
        service_(served_micro(options.context), engine_, options.limits),
        server_(with_log(options.server)) {
    if (options.attached) server_.attach(service_);
  }
  ~LiveLane() { server_.stop(std::chrono::hours(1)); }

  int port() const { return server_.port(); }
  Server& server() { return server_; }
  Service& service() { return service_; }

  httplib::Client client() const {
    httplib::Client client("127.0.0.1", port());
    client.set_read_timeout(600);
    client.set_tcp_nodelay(true);
    return client;
  }

  Answer post(const std::string& path, const std::string& body,
              const httplib::Headers& headers = {}) const {
    const httplib::Result result = client().Post(path, headers, body, "application/json");
    return result ? answer_of(*result) : Answer{0, {}, httplib::to_string(result.error())};
  }
  Answer post_json(const std::string& path, const ordered_json& body) const {
    return post(path, body.dump());
  }
  Answer get(const std::string& path, const httplib::Headers& headers = {}) const {
    const httplib::Result result = client().Get(path, headers);
    return result ? answer_of(*result) : Answer{};
  }

  std::vector<ordered_json> log() const {
    const std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  static Answer answer_of(const httplib::Response& response) {
    return {response.status, ordered_json::parse(response.body, nullptr, false), response.body};
  }

  ServerOptions with_log(ServerOptions options) {
    options.port = 0;
    options.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_.push_back(ordered_json::parse(line));
    };
    return options;
  }

  mutable std::mutex mutex_;
  std::vector<ordered_json> log_;
  runtime::Engine engine_;
  Service service_;
  Server server_;
};

inline ordered_json user_says(const std::string& text, std::size_t max_tokens) {
  ordered_json body{
      {"messages", ordered_json::array()}, {"max_tokens", max_tokens}, {"temperature", 0}};
  body["messages"].push_back({{"role", "user"}, {"content", text}});
  return body;
}

// The data of a stream's events; comments are left out. "[DONE]" is a string.
inline std::vector<ordered_json> events_of(const std::string& stream) {
  std::vector<ordered_json> events;
  std::istringstream lines(stream);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("data: ")) continue;
    const std::string data = line.substr(6);
    events.push_back(data == "[DONE]" ? ordered_json(data) : ordered_json::parse(data));
  }
  return events;
}

}  // namespace engine::lane::testing
