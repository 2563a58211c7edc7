#include "runtime/engine.h"

#include <fmt/format.h>

#include <cmath>

namespace engine::runtime {
namespace {

constexpr std::size_t kReplyRows = 1024;  // see EngineOptions::ring_rows

template <typename... Args>
void require(bool holds, fmt::format_string<Args...> message, Args&&... args) {
  if (!holds) throw RequestError(fmt::format(message, std::forward<Args>(args)...));
}

std::size_t ring_rows(const Network& network, const EngineOptions& options) {
  if (!network.mtp) return 0;
  const std::size_t smallest = Drafter::smallest_ring(network.config(), options.prompt_rows);
  if (options.ring_rows == 0) return smallest + options.prompt_rows + kReplyRows;
  require(options.ring_rows >= smallest,
          "a drafter ring of {} rows is too small: the model's window of {} and prompt_rows {} "
          "need at least {}",
          options.ring_rows, network.config().mtp_window, options.prompt_rows, smallest);
  return options.ring_rows;
}

StateShape shape_of(const Network& network, const EngineOptions& options) {
  require(options.context >= 1 && options.context <= network.positions(),
          "a context of {} tokens is outside the model's 1 to {}", options.context,
          network.positions());
  require(options.prompt_rows >= 1 && options.prompt_rows <= options.context,
          "prompt_rows {} is outside 1 to {}, the context", options.prompt_rows, options.context);
  return {options.context, options.prompt_rows, ring_rows(network, options)};
}

void check_sampling(const SamplingParams& sampling) {
  require(std::isfinite(sampling.temperature) && sampling.temperature >= 0,
          "temperature {} is not a number >= 0", sampling.temperature);
  require(sampling.top_p > 0 && sampling.top_p <= 1, "top_p {} is outside (0, 1]", sampling.top_p);
}

}  // namespace

Engine::Engine(const Network& network, const EngineOptions& options)
    : lane_{network, State(network, shape_of(network, options)), std::nullopt} {
  if (network.mtp) lane_.drafter.emplace(network, lane_.state);
  if (options.log) {
    const double mebibytes =
        static_cast<double>(State::bytes(network, lane_.state.shape())) / (1 << 20);
    options.log(Severity::kInfo,
                fmt::format("a lane of {} rows takes {:.1f} MiB on {}", options.context, mebibytes,
                            network.backend().device()));
  }
}

Reply Engine::run(const Request& request, const Callbacks& callbacks) {
  check(request);
  const std::lock_guard lock(running_);
  return generate(lane_, request.prompt, request.params, callbacks);
}

void Engine::check(const Request& request) const {
  const std::size_t context = lane_.state.shape().context;
  require(!request.prompt.empty(), "the prompt is empty");
  require(request.prompt.size() <= context, "the prompt has {} tokens, the context holds {}",
          request.prompt.size(), context);
  const std::size_t vocabulary = lane_.network.config().vocabulary;
  for (std::size_t i = 0; i < request.prompt.size(); ++i) {
    const kernels::Token token = request.prompt[i];
    require(token >= 0 && static_cast<std::size_t>(token) < vocabulary,
            "prompt token {} is {}, outside the vocabulary of {}", i, token, vocabulary);
  }
  require(request.params.draft_tokens < kMaxDecodeRows, "draft_tokens {} is above {}",
          request.params.draft_tokens, kMaxDecodeRows - 1);
  check_sampling(request.params.sampling);
}

}  // namespace engine::runtime
