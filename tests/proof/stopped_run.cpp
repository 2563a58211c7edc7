#include "proof/stopped_run.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace engine::runtime::testing {
namespace {

struct Disconnected {};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

template <typename T, typename Same>
bool begins(const std::vector<T>& part, const std::vector<T>& whole, Same same) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin(), same);
}

}  // namespace

StopAt stop_at(Ending ending, std::uint32_t draw, const Outcome& cold) {
  StopAt stop;
  if (ending == Ending::kCancelled) stop.question = draw % (cold.questions + 1);
  if (ending == Ending::kDisconnected) stop.callback = draw % (cold.callbacks + 1);
  if (ending == Ending::kBroken) stop.operation = draw % (cold.operations + 1);
  return stop;
}

Outcome run_until(ProofModel& model, Engine& engine, const Request& request, const StopAt& stop) {
  Outcome outcome;
  const auto calls = [&] {
    if (outcome.callbacks++ == stop.callback) throw Disconnected();
  };
  Callbacks callbacks;
  callbacks.on_prefill = [&](std::size_t done, std::size_t) {
    outcome.prefilled = done;
    calls();
  };
  callbacks.on_token = [&](Token token) {
    outcome.streamed.push_back(token);
    calls();
  };
  callbacks.cancelled = [&] { return outcome.questions++ == stop.question; };
  model.backend.arm(stop.operation);
  try {
    outcome.reply = engine.run(request, callbacks);
  } catch (const Disconnected&) {
  } catch (const kernels::BackendError&) {
  }
  outcome.operations = model.backend.seen();
  model.backend.disarm();
  return outcome;
}

std::optional<std::string> reply_difference(const Outcome& latest, const Outcome& cold) {
  if (!begins(latest.streamed, cold.streamed, std::equal_to<>())) return "tokens differ";
  if (!latest.reply) return std::nullopt;
  if (!begins(latest.reply->logits, cold.reply->logits, same_bits)) return "logits differ";
  if (latest.reply->finish == FinishReason::kCancelled) return std::nullopt;
  if (latest.reply->tokens != cold.reply->tokens) return "the reply is shorter";
  if (latest.reply->finish != cold.reply->finish) return "ended otherwise";
  return std::nullopt;
}

}  // namespace engine::runtime::testing
