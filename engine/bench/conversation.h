// A conversation that grows turn by turn: what a prefix cache is for.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "runtime/network.h"

namespace engine::cli {

using Report = std::function<void(nlohmann::ordered_json)>;

// For each of settings.prompt_rows: settings.turns turns, the first prompt as long as the shortest
// of settings.lengths, the last as the longest; each prompt is the one before, its reply and new
// tokens. Reports a line a turn, then a line with the slopes over the context: least squares of
// prefill and of whole turns, in ms per 1,000 tokens.  REQUIRES: at least two turns.
void bench_conversation(const runtime::Network& network, const BenchSettings& settings,
                        const Report& report);

// `count` tokens below `vocabulary`, the same for the same `first`.
std::vector<kernels::Token> bench_tokens(std::size_t count, std::size_t vocabulary,
                                         std::size_t first = 0);

}  // namespace engine::cli
