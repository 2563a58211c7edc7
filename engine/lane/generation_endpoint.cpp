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
    Client client;
    client.gone = context_.gone;
    turn_.emplace(context_.service.enter(client));
  }

  bool streams() const { return request_.stream; }

  // With `n` the choices come one after the other, in one turn.
  ordered_json reply() {
    const RequestQueue::Turn turn = *std::exchange(turn_, std::nullopt);
    Client client;
    client.gone = context_.gone;
    ordered_json whole;
    for (std::size_t index = 0; index < request_.choices; ++index) {
      const Outcome outcome = run(index, turn, client);
      if (outcome.finish_reason == "cancelled")
        throw ApiError(499, "the client has gone", "", "client_gone");
      log(200, outcome.finish_reason, &outcome);
      const ordered_json one = writer(index).whole(outcome.reply, outcome.finish_reason,
                                                   outcome.stats, usage_, outcome.departure);
      if (index == 0) whole = one;
      if (index > 0) whole["choices"].push_back(one["choices"][0]);
      whole["usage"] = usage_;
    }
    return whole;
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
      const RequestQueue::Turn turn = *std::exchange(turn_, std::nullopt);
      for (std::size_t index = 0; index < request_.choices; ++index) {
        ResponseWriter choice = writer(index);
        if (endpoint_ == Endpoint::kChat) send_event(choice.opening());
        Client client;
        client.gone = [&] { return broken || context_.gone(); };
        client.on_delta = [&](const ReplyDelta& delta) { send_event(choice.chunk(delta)); };
        // Comments, which keep a connection alive that waits for a long prefill.
        client.on_prefill = [&](std::size_t done, std::size_t total) {
          if (done < total) send(fmt::format(": prefill {} of {}\n\n", done, total));
        };
        const Outcome outcome = run(index, turn, client);
        log(200, outcome.finish_reason, &outcome);
        if (outcome.finish_reason == "cancelled") return;
        send_event(choice.closing(outcome.finish_reason, outcome.stats, outcome.departure));
      }
      if (request_.include_usage) send_event(writer(0).usage_chunk(usage_));
      send("data: [DONE]\n\n");
    } catch (const ApiError& error) {
      log_error(error);
      send_event(error.body());
    }
  }

  void log_error(const ApiError& error) { log(error.status, error.code, nullptr); }

 private:
  const Served& served() const { return context_.service.served(); }

  ResponseWriter writer(std::size_t index) const {
    return {served(), request_, id_, created_, index};
  }

  // Runs a choice and counts it in the usage: the prompt once, as the first one found it.
  Outcome run(std::size_t index, const RequestQueue::Turn& turn, const Client& client) {
    GenerationRequest choice = request_;
    choice.engine.params.sampling.seed += index;
    Outcome outcome = context_.service.run(choice, turn, context_.arrived, client);
    if (index == 0) first_ = outcome.stats;
    completion_tokens_ += outcome.completion_tokens;
    reasoning_tokens_ += outcome.reasoning_tokens;
    usage_ = usage_json(first_, completion_tokens_, reasoning_tokens_);
    return outcome;
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
  std::int64_t created_ = std::time(nullptr);
  runtime::Stats first_;
  std::size_t completion_tokens_ = 0, reasoning_tokens_ = 0;
  ordered_json usage_;
  std::optional<RequestQueue::Turn> turn_;
};

void start(const std::shared_ptr<Job>& job, std::string_view body, bool takes_chunks,
           httplib::Response& response) {
  job->prepare(body);
  if (!job->streams()) {
    response.set_content(to_text(job->reply()), "application/json");
    return;
  }
  response.set_header("Cache-Control", "no-cache");
  constexpr const char* kType = "text/event-stream; charset=utf-8";
  const auto provide = [job](std::size_t, httplib::DataSink& sink) {
    job->stream(sink);
    sink.done();
    return true;
  };
  if (takes_chunks) return response.set_chunked_content_provider(kType, provide);
  response.set_header("Connection", "close");  // which ends the reply
  response.set_content_provider(kType, provide);
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
    start(job, body, context.takes_chunks, response);
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
