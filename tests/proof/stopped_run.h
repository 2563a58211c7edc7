// One run of a request, ended at a chosen point, and whether its reply is the beginning of another
// one's.
#pragma once

#include <optional>
#include <string>

#include "proof/cold_check.h"
#include "proof/turns.h"

namespace engine::runtime::testing {

// A run's reply, or nothing if it was stopped by an exception, and how many points it could be
// stopped at.
struct Outcome {
  std::optional<Reply> reply;
  std::vector<Token> streamed;
  std::size_t prefilled = 0;  // rows complete, by the callback
  std::size_t questions = 0;  // "cancelled?"
  std::size_t callbacks = 0;
  std::size_t operations = 0;  // of the backend
};

struct StopAt {
  static constexpr std::size_t kNever = FallibleBackend::kAll;
  std::size_t question = kNever, callback = kNever, operation = kNever;
};

// The point of `ending` that `draw` chooses among those that the cold run had.
StopAt stop_at(Ending ending, std::uint32_t draw, const Outcome& cold);

Outcome run_until(ProofModel& model, Engine& engine, const Request& request, const StopAt& stop);

// How the reply differs from the cold one. One that was cut short must be its beginning.
std::optional<std::string> reply_difference(const Outcome& latest, const Outcome& cold);

}  // namespace engine::runtime::testing
