#include "lane/generation.h"

#include <fmt/format.h>

#include <ctime>

#include "lane/response.h"
#include "lane/responses_request.h"
#include "lane/responses_writer.h"

namespace engine::lane {

using nlohmann::ordered_json;

Generation::Generation(Endpoint endpoint, GenerationContext context)
    : names_(names_of(endpoint)), context_(std::move(context)), id_(new_id(names_.id)) {}

void Generation::answer(std::string_view body, httplib::Response& response) {
  try {
    prepare(body);
    if (!request_.stream) {
      const std::vector<Outcome> choices = generate({}, context_.gone);
      if (choices.back().finish == Finish::kCancelled)
        throw ApiError(499, "the client has gone", "", "client_gone");
      response.set_content(to_text(writer_->whole(choices)), "application/json");
      return;
    }
  } catch (const ApiError& error) {
    log_error(error);
    return lane::answer(error, response);
  }
  response.set_header("Cache-Control", "no-cache");
  constexpr const char* kType = "text/event-stream; charset=utf-8";
  const auto provide = [self = shared_from_this()](std::size_t, httplib::DataSink& sink) {
    self->stream(sink);
    sink.done();
    return true;
  };
  if (context_.takes_chunks) return response.set_chunked_content_provider(kType, provide);
  response.set_header("Connection", "close");  // which ends the reply
  response.set_content_provider(kType, provide);
}

void Generation::prepare(std::string_view body) {
  const ordered_json json = parse_body(body);
  const JsonField field(json);
  request_ = names_.endpoint == Endpoint::kChat         ? read_chat(field, served())
             : names_.endpoint == Endpoint::kCompletion ? read_completion(field, served())
                                                        : read_response(field, served());
  const std::int64_t now = std::time(nullptr);
  if (names_.endpoint == Endpoint::kResponses)
    writer_ = std::make_unique<ResponsesWriter>(served(), request_, id_, now);
  else
    writer_ = std::make_unique<ResponseWriter>(served(), request_, id_, now);
  turn_.emplace(context_.service.enter(context_.gone));
}

void Generation::stream(httplib::DataSink& sink) {
  bool broken = false;
  const Emit emit = [&](const std::string& text) {
    broken = broken || !sink.write(text.data(), text.size());
  };
  try {
    const std::vector<Outcome> choices = generate(emit, [&] { return broken || context_.gone(); });
    if (choices.back().finish != Finish::kCancelled) emit(writer_->close(choices));
  } catch (const ApiError& error) {
    log_error(error);
    emit(writer_->fail(error));
  }
}

// With `n` the choices come one after the other, in one turn. Without `emit` nothing is streamed.
std::vector<Outcome> Generation::generate(const Emit& emit, const std::function<bool()>& gone) {
  const RequestQueue::Turn turn = *std::exchange(turn_, std::nullopt);
  Client client{.arrived = context_.arrived, .gone = gone, .on_delta = {}, .on_prefill = {}};
  if (emit) {
    client.on_delta = [&](const ReplyDelta& delta) { emit(writer_->add(delta)); };
    // Comments, which keep a connection alive that waits for a long prefill.
    client.on_prefill = [&](std::size_t done, std::size_t total) {
      if (done < total) emit(fmt::format(": prefill {} of {}\n\n", done, total));
    };
  }
  std::vector<Outcome> choices;
  for (std::size_t index = 0; index < request_.choices; ++index) {
    GenerationRequest choice = request_;
    choice.engine.params.sampling.seed += index;
    if (emit) emit(writer_->begin(index));
    const Outcome& outcome = choices.emplace_back(context_.service.run(choice, turn, client));
    const bool cancelled = outcome.finish == Finish::kCancelled;
    if (emit || !cancelled) log(200, word_of(outcome.finish), &outcome);
    if (cancelled) break;
    if (emit) emit(writer_->end(outcome));
  }
  return choices;
}

void Generation::log(int status, std::string_view word, const Outcome* outcome) {
  const std::string said = status == 200 ? std::string(word) : std::to_string(status);
  context_.service.metrics().count_request(names_.label, said);
  ordered_json line{{"id", id_}, {"endpoint", names_.label}, {"status", status}, {"outcome", word}};
  line["stream"] = request_.stream;
  if (outcome != nullptr) {
    line["queue_s"] = outcome->times.started;
    line["first_token_s"] = outcome->times.first_token;
    line["total_s"] = outcome->times.finished;
    line["stats"] = stats_json(outcome->stats);
    const ordered_json timings = timings_json(*outcome, served().grid);
    line["rounded_off"] = timings["rounded_off"];
    line["rendering"] = timings["rendering"];
  }
  context_.service.history().add(line);
  if (!context_.log) return;
  if (context_.log_prompts)
    line["prompt"] = served().model.tokenizer().decode(request_.engine.prompt);
  context_.log(to_text(line));
}

void answer(const ApiError& error, httplib::Response& response) {
  response.status = error.status;
  if (error.status == 401) response.set_header("WWW-Authenticate", "Bearer");
  if (error.status == 429 || error.status == 503) response.set_header("Retry-After", "1");
  response.set_content(to_text(error.body()), "application/json");
}

}  // namespace engine::lane
