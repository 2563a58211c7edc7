#include "lane/generation_endpoint.h"

#include <fmt/format.h>

#include <ctime>

namespace engine::lane {
namespace {

using nlohmann::ordered_json;

// One request, from its body to its line in the log.
class Job {
 public:
  Job(Endpoint endpoint, const GenerationContext& context)
      : endpoint_(endpoint),
        context_(context),
        id_(new_id(endpoint == Endpoint::kChat ? "chatcmpl-" : "cmpl-")) {}

  // Reads the request and waits for its turn. Throws ApiError.
  void prepare(std::string_view body) {
    const ordered_json json = parse_body(body);
    const JsonField field(json);
    request_ = endpoint_ == Endpoint::kChat ? read_chat(field, served())
                                            : read_completion(field, served());
    writer_.emplace(served(), request_, id_, std::time(nullptr));
    Client client;
    client.gone = context_.gone;
    turn_.emplace(context_.service.enter(client));
  }

  bool streams() const { return request_.stream; }

  ordered_json reply() {
    Client client;
    client.gone = context_.gone;
    const Outcome outcome = run(client);
    if (outcome.finish_reason == "cancelled")
      throw ApiError(499, "the client has gone", "", "client_gone");
    log(200, outcome.finish_reason, &outcome);
    return writer_->whole(outcome.reply, outcome.finish_reason, outcome.stats, usage_of(outcome),
                          outcome.departure);
  }

  void stream(httplib::DataSink& sink) {
    bool broken = false;
    const auto send = [&](const std::string& text) {
      broken = broken || !sink.write(text.data(), text.size());
    };
    const auto send_event = [&](const ordered_json& json) {
      send("data: " + to_text(json) + "\n\n");
    };
    try {
      if (endpoint_ == Endpoint::kChat) send_event(writer_->opening());
      Client client;
      client.gone = [&] { return broken || context_.gone(); };
      client.on_delta = [&](const ReplyDelta& delta) { send_event(writer_->chunk(delta)); };
      // Comments, which keep a connection alive that waits for a long prefill.
      client.on_prefill = [&](std::size_t done, std::size_t total) {
        if (done < total) send(fmt::format(": prefill {} of {}\n\n", done, total));
      };
      const Outcome outcome = run(client);
      log(200, outcome.finish_reason, &outcome);
      if (outcome.finish_reason == "cancelled") return;
      send_event(writer_->closing(outcome.finish_reason, outcome.stats, outcome.departure));
      if (request_.include_usage) send_event(writer_->usage_chunk(usage_of(outcome)));
      send("data: [DONE]\n\n");
    } catch (const ApiError& error) {
      log_error(error);
      send_event(error.body());
    }
  }

  void log_error(const ApiError& error) { log(error.status, error.code, nullptr); }

 private:
  const Served& served() const { return context_.service.served(); }

  static ordered_json usage_of(const Outcome& outcome) {
    return usage_json(outcome.stats, outcome.completion_tokens, outcome.reasoning_tokens);
  }

  Outcome run(const Client& client) {
    const RequestQueue::Turn turn = *std::exchange(turn_, std::nullopt);
    return context_.service.run(request_, turn, context_.arrived, client);
  }

  void log(int status, std::string_view word, const Outcome* outcome) {
    const std::string said = status == 200 ? std::string(word) : fmt::format("{}", status);
    context_.service.metrics().count_request(label_of(endpoint_), said);
    if (!context_.log) return;
    ordered_json line{
        {"id", id_}, {"endpoint", label_of(endpoint_)}, {"status", status}, {"outcome", word}};
    line["stream"] = request_.stream;
    if (outcome != nullptr) {
      line["queue_s"] = outcome->times.started;
      line["first_token_s"] = outcome->times.first_token;
      line["total_s"] = outcome->times.finished;
      line["stats"] = stats_json(outcome->stats);
    }
    if (context_.log_prompts)
      line["prompt"] = served().model.tokenizer().decode(request_.engine.prompt);
    context_.log(to_text(line));
  }

  Endpoint endpoint_;
  GenerationContext context_;
  std::string id_;
  GenerationRequest request_;
  std::optional<ResponseWriter> writer_;
  std::optional<RequestQueue::Turn> turn_;
};

void start(const std::shared_ptr<Job>& job, std::string_view body, httplib::Response& response) {
  job->prepare(body);
  if (!job->streams()) {
    response.set_content(to_text(job->reply()), "application/json");
    return;
  }
  response.set_header("Cache-Control", "no-cache");
  response.set_chunked_content_provider("text/event-stream",
                                        [job](std::size_t, httplib::DataSink& sink) {
                                          job->stream(sink);
                                          sink.done();
                                          return true;
                                        });
}

}  // namespace

std::string_view path_of(Endpoint endpoint) {
  return endpoint == Endpoint::kChat ? "/v1/chat/completions" : "/v1/completions";
}

std::string_view label_of(Endpoint endpoint) {
  return endpoint == Endpoint::kChat ? "chat" : "completions";
}

void generate_reply(Endpoint endpoint, std::string_view body, const GenerationContext& context,
                    httplib::Response& response) {
  const auto job = std::make_shared<Job>(endpoint, context);
  try {
    start(job, body, response);
  } catch (const ApiError& error) {
    job->log_error(error);
    answer(error, response);
  }
}

void answer(const ApiError& error, httplib::Response& response) {
  response.status = error.status;
  if (error.status == 401) response.set_header("WWW-Authenticate", "Bearer");
  if (error.status == 429 || error.status == 503) response.set_header("Retry-After", "1");
  response.set_content(to_text(error.body()), "application/json");
}

}  // namespace engine::lane
