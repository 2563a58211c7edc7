#include "lane/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "lane/response.h"

namespace engine::lane {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

Counter& counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

Gauge& gauge(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

Histogram& histogram(prometheus::Registry& registry, const char* name, const char* help,
                     const Histogram::BucketBoundaries& bounds) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, bounds);
}

const Histogram::BucketBoundaries kSeconds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
                                           2.5,   5,    10,    25,   50,  100,  250};
const Histogram::BucketBoundaries kTokenSeconds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                0.05,   0.1,   0.25,   0.5,   1,    2.5};

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  prometheus::Family<Counter>& requests = prometheus::BuildCounter()
                                              .Name("lane_requests_total")
                                              .Help("Requests by endpoint and outcome")
                                              .Register(registry);
  Gauge& waiting = gauge(registry, "lane_queue_length", "Requests that wait for their turn");
  Gauge& running = gauge(registry, "lane_requests_running", "Requests that have the lane");
  Counter& prompt = counter(registry, "lane_prompt_tokens_total", "Tokens of prompts");
  Counter& generated = counter(registry, "lane_generated_tokens_total", "Tokens generated");
  Counter& reused = counter(registry, "lane_reused_tokens_total", "Prompt rows kept, not computed");
  Counter& queries =
      counter(registry, "lane_prefix_cache_queries_total", "Requests looked up in the cache");
  Counter& hits = counter(registry, "lane_prefix_cache_hits_total", "Requests that kept rows");
  Counter& drafted = counter(registry, "lane_drafted_tokens_total", "Tokens proposed");
  Counter& accepted = counter(registry, "lane_accepted_tokens_total", "Proposed tokens kept");
  Histogram& first_token = histogram(registry, "lane_time_to_first_token_seconds",
                                     "From arrival to the first token", kSeconds);
  Histogram& gap = histogram(registry, "lane_inter_token_seconds",
                             "Between a token and the one before", kTokenSeconds);
  Histogram& whole = histogram(registry, "lane_request_seconds", "From arrival to end", kSeconds);
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}
Metrics::~Metrics() = default;

void Metrics::count_request(std::string_view endpoint, std::string_view outcome) {
  families_->requests.Add({{"endpoint", std::string(endpoint)}, {"outcome", std::string(outcome)}})
      .Increment();
}

void Metrics::observe(const runtime::Stats& stats, const RequestTimes& times) {
  Families& f = *families_;
  const auto cached = stats_json(stats).value("cached", std::size_t{0});
  f.prompt.Increment(static_cast<double>(stats.prompt_tokens));
  f.generated.Increment(static_cast<double>(stats.generated_tokens));
  f.reused.Increment(static_cast<double>(cached));
  f.queries.Increment();
  f.hits.Increment(cached > 0 ? 1 : 0);
  f.drafted.Increment(static_cast<double>(stats.drafted));
  f.accepted.Increment(static_cast<double>(stats.accepted));
  if (times.first_token >= 0) f.first_token.Observe(times.first_token);
  f.whole.Observe(times.finished);
}

void Metrics::observe_token_gap(double seconds) {
  families_->gap.Observe(seconds);
}

void Metrics::set_waiting(std::size_t requests) {
  families_->waiting.Set(static_cast<double>(requests));
}

void Metrics::set_running(std::size_t requests) {
  families_->running.Set(static_cast<double>(requests));
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace engine::lane
