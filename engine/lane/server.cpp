#include "lane/server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "lane/admission.h"
#include "lane/connection.h"
#include "lane/generation.h"
#include "lane/model_endpoints.h"
#include "lane/page.h"
#include "lane/worker_pool.h"

namespace engine::lane {
namespace {

using httplib::ContentReader;
using httplib::Request;
using httplib::Response;
using nlohmann::ordered_json;

const ApiError kTooSlow(408, "the request came too slowly", "", "timeout");
const ApiError kHeadTooLong(431, "the request's head, or a line of it, is too long");

}  // namespace

// httplib's server with connections of our own: see connection.h.
class Server::Listener final : public httplib::Server {
 public:
  explicit Listener(ServerOptions options) : options_(std::move(options)) {
    new_task_queue = [this] { return workers_ = new WorkerPool(options_.connections); };
    set_payload_max_length(options_.body_bytes);
    set_tcp_nodelay(true);
    set_guards();
    set_routes();
    port_ = options_.port == 0                           ? bind_to_any_port(options_.host)
            : bind_to_port(options_.host, options_.port) ? options_.port
                                                         : -1;
    if (port_ < 0)
      throw std::runtime_error(fmt::format("{}:{} cannot be listened on: {}", options_.host,
                                           options_.port, std::strerror(errno)));
    // httplib keeps 5 clients that wait to be accepted; more at once were reset by the kernel.
    (void)::listen(svr_sock_, SOMAXCONN);
    thread_ = std::thread([this] { listen_after_bind(); });
    while (!is_running())
      std::this_thread::yield();
  }

  ~Listener() override {
    leave_clients();
    httplib::Server::stop();
    thread_.join();
  }

  int port() const { return port_; }
  void attach(Service& service) { service_ = &service; }
  Service* service() const { return service_; }
  // From now on no client is waited for.
  void leave_clients() { stopped_ = true; }

 private:
  using Answer = std::function<void(const Request&, Response&, std::string body)>;

  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, {options_.read, options_.write}, stopped_,
                          [this] { return workers_->wants_room(); });
    connection_ = &connection;
    bool usable = true;
    while (usable && connection.wait_for_request(options_.keep_alive)) {
      close_after_ = false;
      bool closed = false;
      usable = process_request(connection, stopped_, closed, read_rightly);
      usable = usable && !closed && !close_after_ && !connection.timed_out();
    }
    connection_ = nullptr;
    shutdown(socket, SHUT_RDWR);
    close(socket);
    return usable;
  }

  void set_guards() {
    set_pre_routing_handler([this](const Request& request, Response& response) {
      try {
        admit(request, options_);
        return HandlerResponse::Unhandled;
      } catch (const ApiError& error) {
        refuse(error, request, response);
        return HandlerResponse::Handled;
      }
    });
    set_expect_100_continue_handler([this](const Request& request, Response& response) {
      try {
        admit(request, options_);
        return 100;
      } catch (const ApiError& error) {
        refuse(error, request, response);
        return error.status;
      }
    });
    set_error_handler(Handler([this](const Request& request, Response& response) {
      if (!response.body.empty()) return;
      refuse(connection_->timed_out()       ? kTooSlow
             : connection_->head_too_long() ? kHeadTooLong
                                            : error_of_status(response.status, request),
             request, response);
    }));
    set_exception_handler(
        [this](const Request& request, Response& response, const std::exception_ptr& error) {
          try {
            std::rethrow_exception(error);
          } catch (const ApiError& known) {
            note(known, request);
            answer(known, response);
          } catch (const model::ModelError& unreadable) {
            refuse(ApiError(400, unreadable.reason), request, response);
          } catch (const std::exception& unknown) {
            refuse(ApiError(500, unknown.what()), request, response);
          }
        });
  }

  // Before the body is read, so a refusal leaves the connection unusable.
  void refuse(const ApiError& error, const Request& request, Response& response) const {
    note(error, request);
    answer(error, response);
    response.set_header("Connection", "close");
    close_after_ = true;
  }

  // Counts and logs what was refused before it became a generation, which does so itself.
  void note(const ApiError& error, const Request& request) const {
    const std::string_view endpoint = label_of_path(request.path);
    if (Service* service = service_)
      service->metrics().count_request(endpoint, std::to_string(error.status));
    if (!options_.log) return;
    options_.log(
        to_text({{"endpoint", endpoint}, {"status", error.status}, {"outcome", error.code}}));
  }

  std::string read_body(const ContentReader& reader, Response& response) const {
    std::string body;
    bool is_too_long = false;
    const bool complete = reader([&](const char* text, std::size_t size) {
      is_too_long = body.size() + size > options_.body_bytes;
      if (!is_too_long) body.append(text, size);
      return !is_too_long;
    });
    if (complete) return body;
    is_too_long = is_too_long || response.status == 413;
    close_after_ = true;
    response.set_header("Connection", "close");
    if (connection_->timed_out()) throw kTooSlow;
    if (is_too_long) throw too_long(options_);
    throw ApiError(400, "the body cannot be read");
  }

  Service& ready() const {
    if (Service* service = service_) return *service;
    throw ApiError(503, "the model is being loaded", "", "loading");
  }

  void post(const std::string& path, const Answer& handler) {
    Post(path,
         [this, handler](const Request& request, Response& response, const ContentReader& reader) {
           std::string body = read_body(reader, response);
           response.status = -1;
           handler(request, response, std::move(body));
         });
  }

  void post_generation(const EndpointNames& names) {
    post(std::string(names.path),
         [this, endpoint = names.endpoint](const Request& request, Response& response,
                                           const std::string& body) {
           const bool is_current = request.version != "HTTP/1.0";
           if (!is_current) close_after_ = true;
           const GenerationContext context{ready(),
                                           Service::Clock::now(),
                                           [connection = connection_] { return connection->peer_left(); },
                                           is_current,
                                           options_.log_prompts,
                                           options_.log};
           std::make_shared<Generation>(endpoint, context)->answer(body, response);
         });
  }

  void post_json(const std::string& path,
                 ordered_json (*handler)(const JsonField&, const Served&)) {
    post(path, [this, handler](const Request&, Response& response, const std::string& body) {
      const ordered_json json = parse_body(body);
      response.set_content(to_text(handler(JsonField(json), ready().served())), "application/json");
    });
  }

  // What a browser asks before a page of another origin may ask for more.
  void allow_origin() {
    set_default_headers({{"Access-Control-Allow-Origin", options_.cors_origin}});
    Options(".*", [](const Request& request, Response& response) {
      response.status = 204;
      response.set_header("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
      const std::string wanted = request.get_header_value("Access-Control-Request-Headers");
      response.set_header("Access-Control-Allow-Headers",
                          wanted.empty() ? "Authorization, Content-Type" : wanted);
      response.set_header("Access-Control-Max-Age", "600");
      response.set_header("Vary", "Origin, Access-Control-Request-Headers");
    });
  }

  void set_routes() {
    if (!options_.cors_origin.empty()) allow_origin();
    Get("/health", [this](const Request&, Response& response) {
      (void)ready();
      response.set_content(R"({"status":"ok"})", "application/json");
    });
    Get("/", [](const Request&, Response& response) {
      response.set_header("Content-Security-Policy", kPagePolicy);
      response.set_content(kPage.data(), kPage.size(), "text/html; charset=utf-8");
    });
    Get("/state", [this](const Request&, Response& response) {
      response.set_header("Cache-Control", "no-store");
      response.set_content(to_text(ready().state_json()), "application/json");
    });
    Get("/v1/models", [this](const Request&, Response& response) {
      response.set_content(to_text(list_models(ready().served())), "application/json");
    });
    Get("/v1/models/(.+)", [this](const Request& request, Response& response) {
      response.set_content(to_text(show_model(request.matches[1].str(), ready().served())),
                           "application/json");
    });
    Get("/metrics", [this](const Request&, Response& response) {
      response.set_content(ready().metrics_text(), "text/plain; version=0.0.4; charset=utf-8");
    });
    for (const EndpointNames& names : kEndpoints)
      post_generation(names);
    post_json("/tokenize", tokenize);
    post_json("/detokenize", detokenize);
  }

  // Of the connection that the calling thread serves.
  static thread_local Connection* connection_;
  static thread_local bool close_after_;

  const ServerOptions options_;
  WorkerPool* workers_ = nullptr;  // httplib's to delete
  int port_ = -1;
  std::atomic<Service*> service_ = nullptr;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

thread_local Connection* Server::Listener::connection_ = nullptr;
thread_local bool Server::Listener::close_after_ = false;

Server::Server(ServerOptions options) : listener_(std::make_unique<Listener>(std::move(options))) {}

Server::~Server() = default;

int Server::port() const {
  return listener_->port();
}

void Server::attach(Service& service) {
  listener_->attach(service);
}

void Server::stop(std::chrono::milliseconds grace) {
  if (!listener_) return;
  if (Service* service = listener_->service()) {
    const bool idle = service->close(grace);
    listener_->leave_clients();
    if (!idle) service->cancel();
  }
  listener_.reset();
}

}  // namespace engine::lane
