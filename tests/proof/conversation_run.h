// Runs a conversation on one lane and compares every turn with a cold run of its prompt.
#pragma once

#include <optional>
#include <string>

#include "proof/cold_check.h"
#include "proof/turns.h"

namespace engine::runtime::testing {

// What a turn is held against, besides the bits of rows, logits and tokens. Turned off where a step
// that keeps a bug must be caught by bits alone.
struct Checks {
  bool accounting = true;  // `cached` and the record, against the formula computed here
  bool origins = true;     // each row's launch is a cold run's
  bool poison = true;      // NaN in everything that must not be read
};

// How many turns of each kind have been compared.
struct Coverage {
  std::size_t turns = 0, reused = 0, drafted = 0, sampled = 0, stopped = 0;
  std::size_t cancelled = 0, disconnected = 0, broken = 0;
  std::size_t ring_kept = 0, ring_absent = 0;  // of the turns that reused rows

  Coverage& operator+=(const Coverage& other);
};

struct Failure {
  std::size_t turn;
  std::string reason;
};

// Nothing, or the first turn that is not what a cold run is. `turns` counts those that were
// compared.
std::optional<Failure> run_conversation(ProofModel& model, const Conversation& conversation,
                                        const Checks& checks, Coverage& coverage);

}  // namespace engine::runtime::testing
