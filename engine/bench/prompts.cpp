#include "bench/prompts.h"

#include <algorithm>

#include "bench/clock.h"
#include "runtime/engine.h"
#include "runtime/forward.h"
#include "runtime/prefill.h"

namespace engine::bench {
namespace {

using kernels::Phase;
using kernels::Token;

constexpr std::size_t kSuffix = 512;

std::size_t longest(const Settings& settings) {
  return *std::ranges::max_element(settings.lengths);
}

void measure_length(runtime::Engine& engine, const Settings& settings, std::size_t prompt_rows,
                    std::size_t length, const Report& report) {
  runtime::Request request{bench_tokens(length, engine.lane().network.config().vocabulary), {}};
  request.params.max_tokens = settings.tokens;
  request.params.draft_tokens = 0;
  engine.run(request);
  const runtime::Stats stats = engine.run(request).stats;
  const double prefill = static_cast<double>(length) / stats.prefill_seconds;
  const double decode = static_cast<double>(stats.generated_tokens - 1) / stats.decode_seconds;
  report({{"what", "prefill"},
          {"prompt_rows", prompt_rows},
          {"tokens", length},
          {"ms", stats.prefill_seconds * 1e3},
          {"tok_per_s", prefill}});
  report({{"what", "decode"},
          {"prompt_rows", prompt_rows},
          {"tokens", length},
          {"ms", 1e3 / decode},
          {"tok_per_s", decode}});
}

// A lane whose buffer holds `length` rows and has room for the suffix.
runtime::Lane prefilled_lane(const runtime::Network& network, std::size_t prompt_rows,
                             std::size_t length) {
  runtime::Lane lane{.network = network,
                     .state = runtime::State(network, {length + kSuffix, prompt_rows, 0}),
                     .drafter = std::nullopt};
  runtime::Stats stats;
  runtime::prefill(lane, bench_tokens(length, network.config().vocabulary), {}, stats);
  return lane;
}

void measure_suffix(const runtime::Network& network, std::size_t prompt_rows, std::size_t length,
                    const Report& report) {
  runtime::Lane lane = prefilled_lane(network, prompt_rows, length);
  const std::vector<Token> suffix = bench_tokens(kSuffix, network.config().vocabulary);
  const double seconds = seconds_of(network.backend(), 3, [&](std::size_t) {
    for (std::size_t at = 0; at < kSuffix; at += prompt_rows) {
      const std::size_t rows = std::min(prompt_rows, kSuffix - at);
      runtime::forward(network, lane.state, std::span(suffix).subspan(at, rows), length + at,
                       Phase::kPrefill);
    }
    runtime::compute_logits(network, lane.state, 1, 1);
  });
  report({{"what", "suffix of 512"},
          {"prompt_rows", prompt_rows},
          {"tokens", length},
          {"ms", seconds * 1e3},
          {"tok_per_s", static_cast<double>(kSuffix) / seconds}});
}

}  // namespace

void measure_prompts(const runtime::Network& network, const Settings& settings,
                     std::size_t prompt_rows, const Report& report) {
  {
    runtime::EngineOptions options;
    options.prompt_rows = prompt_rows;
    options.context = std::max(prompt_rows, longest(settings) + settings.tokens);
    runtime::Engine engine(network, options);
    for (const std::size_t length : settings.lengths)
      measure_length(engine, settings, prompt_rows, length, report);
  }
  measure_suffix(network, prompt_rows, longest(settings), report);
}

std::vector<Token> bench_tokens(std::size_t count, std::size_t vocabulary, std::size_t first) {
  std::vector<Token> tokens(count);
  for (std::size_t i = 0; i < count; ++i)
    tokens[i] = static_cast<Token>(((first + i) * 2654435761u + 12345) % vocabulary);
  return tokens;
}

}  // namespace engine::bench
