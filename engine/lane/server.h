// The live lane over HTTP: OpenAI's endpoints for one engine.
//
//   POST /v1/chat/completions
//   POST /v1/completions
//   POST /v1/responses        see responses_request.h
//   POST /tokenize            see model_endpoints.h
//   POST /detokenize
//   GET  /v1/models, /v1/models/NAME
//   GET  /health              503 while the model is being loaded
//   GET  /metrics
//   GET  /                    a page for people: see page.h; it asks for no key, but what it shows
//   does GET  /state               what the page shows: Service::state_json
//
// Every error is {"error": {"message", "type", "param", "code"}} with a matching status.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lane/service.h"

namespace engine::lane {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                             // 0: any free one
  std::string api_key;                         // empty: none is asked for; /health and / never ask
  std::size_t connections = 64;                // served at once; each has a thread
  std::size_t body_bytes = 16 << 20;           // of a request, unpacked
  std::chrono::milliseconds read{30000};       // a whole request, from its first byte
  std::chrono::milliseconds write{30000};      // a client that takes nothing is gone
  std::chrono::milliseconds keep_alive{5000};  // between two requests of a connection
  std::string cors_origin;                     // whose pages may ask; "*": any; empty: none
  bool log_prompts = false;
  // One JSON line a request; any thread calls it. May be empty.
  std::function<void(std::string_view)> log;
};

class Server {
 public:
  // Binds and listens; until attach() every endpoint says 503. Throws std::runtime_error naming the
  // address.
  explicit Server(ServerOptions options);
  // Stops.
  ~Server();

  int port() const;

  // From now on requests are answered. `service` must outlive stop().
  void attach(Service& service);

  // Refuses new requests, lets the running one finish within `grace` or cancels it, and closes.
  void stop(std::chrono::milliseconds grace);

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace engine::lane
