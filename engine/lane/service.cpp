#include "lane/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string_view>

#include "kernels/ops.h"
#include "lane/prompt_echo.h"
#include "lane/response.h"

namespace engine::lane {
namespace {

using Clock = Service::Clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void join(ReplyDelta& whole, const ReplyDelta& delta) {
  whole.reasoning += delta.reasoning;
  whole.text += delta.text;
  whole.calls.insert(whole.calls.end(), delta.calls.begin(), delta.calls.end());
  whole.logprobs.insert(whole.logprobs.end(), delta.logprobs.begin(), delta.logprobs.end());
}

// What the cache bounds the reuse by, before it rounds to the grid: see patches/prefix_cache.h.
std::optional<std::size_t> keepable_rows(const runtime::Stats& stats, std::size_t canonical) {
  const auto all = stats_json(stats);
  if (!all.contains("common_prefix")) return std::nullopt;
  const std::size_t common = all["common_prefix"].get<std::size_t>();
  // After a run that failed the engine may know of more.
  return std::max(std::min({common, canonical, stats.prompt_tokens - 1}),
                  all["cached"].get<std::size_t>());
}

// Whether the engine keeps rows: see patches/ on the variable.
bool caches() {
  const char* value = std::getenv("TF_GLM53_PREFIX_CACHE");
  return stats_json({}).contains("common_prefix") &&
         (value == nullptr || std::string_view(value) != "0");
}

Served with_vocabulary(Served served) {
  served.vocabulary = std::make_shared<const Vocabulary>(vocabulary_of(served.model.tokenizer()));
  return served;
}

// Hears what the engine says while it runs a request, and tells the client.
class Listener {
 public:
  Listener(const Served& served, const GenerationRequest& request, const Client& client,
           Metrics& metrics, History& history)
      : request_(request),
        client_(client),
        metrics_(metrics),
        history_(history),
        echo_(served, request),
        reader_(served, request, [] { return new_id("call_"); }) {
    outcome_.times.started = seconds_since(client.arrived);
  }

  // `stop` is asked between launches, too; `prefilled` is told how many rows are complete.
  runtime::Callbacks callbacks(const std::function<bool()>& stop, std::size_t& prefilled) {
    runtime::Callbacks callbacks;
    callbacks.cancelled = [this, stop] { return reader_.stopped() || client_gone() || stop(); };
    callbacks.on_prefill = [this, &prefilled](std::size_t done, std::size_t total) {
      prefilled = done;
      history_.prefilled(done);
      if (client_.on_prefill) client_.on_prefill(done, total);
    };
    if (request_.top_logprobs)
      callbacks.on_logits = [this](std::span<const float> logits) { logits_ = logits; };
    if (echo_.wants_logits())
      callbacks.on_prompt_logits = [this](std::size_t position, std::span<const float> logits) {
        echo_.show(position, logits);
      };
    callbacks.on_token = [this](model::Token token) { take(token); };
    return callbacks;
  }

  Outcome finish(const runtime::Reply& reply) {
    if (reply.finish != runtime::FinishReason::kCancelled) emit(echo_.take());
    emit(reader_.finish());
    outcome_.stats = reply.stats;
    outcome_.completion_tokens = reader_.tokens();
    outcome_.reasoning_tokens = reader_.reasoning_tokens();
    outcome_.finish = finish_of(reply.finish);
    outcome_.times.finished = seconds_since(client_.arrived);
    metrics_.observe(outcome_.stats, outcome_.times);
    return std::move(outcome_);
  }

 private:
  bool client_gone() const { return client_.gone && client_.gone(); }

  void take(model::Token token) {
    const double now = seconds_since(client_.arrived);
    if (outcome_.times.first_token < 0) {
      outcome_.times.first_token = now;
    } else {
      metrics_.observe_token_gap(now - latest_);
    }
    latest_ = now;
    history_.generated();
    emit(echo_.take());
    emit(reader_.push(token, logits_));
  }

  void emit(const ReplyDelta& delta) {
    if (delta.empty()) return;
    join(outcome_.reply, delta);
    if (client_.on_delta) client_.on_delta(delta);
  }

  Finish finish_of(runtime::FinishReason reason) const {
    if (reader_.stopped() || reason == runtime::FinishReason::kStop)
      return reader_.has_calls() ? Finish::kToolCalls : Finish::kStop;
    return reason == runtime::FinishReason::kCancelled ? Finish::kCancelled : Finish::kLength;
  }

  const GenerationRequest& request_;
  const Client& client_;
  Metrics& metrics_;
  History& history_;
  PromptEcho echo_;
  ReplyReader reader_;
  Outcome outcome_;
  std::span<const float> logits_;
  double latest_ = 0;
};

}  // namespace

Service::Service(Served served, runtime::Engine& engine, const Limits& limits)
    : served_(with_vocabulary(std::move(served))),
      engine_(engine),
      limits_(limits),
      caches_(caches()),
      queue_(limits.queue) {}

std::string Service::metrics_text() {
  metrics_.set_waiting(queue_.waiting());
  metrics_.set_running(queue_.busy() ? 1 : 0);
  return metrics_.text();
}

Outcome Service::run(const GenerationRequest& request, const RequestQueue::Turn&,
                     const Client& client) {
  const auto deadline = Clock::now() + limits_.request;
  bool late = false;
  Listener listener(served_, request, client, metrics_, history_);
  const auto departure = request.chat ? last_.compare(request) : std::nullopt;
  const std::size_t canonical = std::exchange(prefilled_, 0);
  const auto stop = [&] {
    late = Clock::now() > deadline;
    return late || cancel_;
  };
  history_.begin(request);
  try {
    const runtime::Reply reply = engine_.run(request.engine, listener.callbacks(stop, prefilled_));
    if (request.chat) last_.keep(request, reply.tokens);
    Outcome outcome = listener.finish(reply);
    outcome.departure = departure;
    outcome.keepable = keepable_rows(reply.stats, canonical);
    history_.end(request, outcome, caches_ ? prefilled_ : 0);
    if (outcome.finish == Finish::kCancelled && late)
      throw ApiError(408, "the request took longer than the server allows", "", "timeout");
    if (outcome.finish == Finish::kCancelled && cancel_)
      throw ApiError(503, "the server is shutting down", "", "shutting_down");
    return outcome;
  } catch (const runtime::RequestError& error) {
    history_.fail();
    throw ApiError(400, error.what());
  } catch (const kernels::BackendError& error) {
    history_.fail();
    throw ApiError(500, error.what(), "", "backend_failed");
  }
}

nlohmann::ordered_json Service::state_json() const {
  nlohmann::ordered_json json{{"model", served_.name},
                              {"context", served_.context},
                              {"grid", served_.grid},
                              {"cache", caches_},
                              {"waiting", queue_.waiting()}};
  json.update(history_.json());
  if (!queue_.busy()) json["running"] = nullptr;
  return json;
}

bool Service::close(std::chrono::milliseconds grace) {
  queue_.close();
  return queue_.wait_idle(grace);
}

void Service::cancel() {
  cancel_ = true;
  queue_.wait_idle(std::chrono::hours(1));
}

std::string new_id(std::string_view prefix) {
  std::random_device device;
  return fmt::format("{}{:08x}{:08x}{:08x}", prefix, device(), device(), device());
}

}  // namespace engine::lane
