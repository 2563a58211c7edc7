// Runs a conversation on one lane and compares every turn with a cold run of its prompt.
#pragma once

#include <optional>
#include <string>

#include "proof/compared_lane.h"

namespace engine::runtime::testing {

struct Failure {
  std::size_t turn;
  std::string reason;
};

// What the turn asks for, with this prompt.
Request request_for(const Turn& turn, std::vector<Token> prompt);

// Nothing, or the first turn that is not what a cold run is. Adds what was compared to `coverage`.
std::optional<Failure> run_conversation(ProofModel& model, const Conversation& conversation,
                                        const Checks& checks, Coverage& coverage);

}  // namespace engine::runtime::testing
