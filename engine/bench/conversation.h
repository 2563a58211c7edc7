// A conversation that grows turn by turn: what a prefix cache is for.
#pragma once

#include "bench/bench.h"

namespace engine::bench {

// For each of settings.prompt_rows: settings.turns turns, the first prompt as long as the shortest
// of settings.lengths, the last as the longest; each prompt is the one before, its reply and new
// tokens. Reports a line a turn, then a line with the slopes over the context: least squares of
// prefill and of whole turns, in ms per 1,000 tokens.  REQUIRES: at least two turns.
void measure_conversation(const runtime::Network& network, const Settings& settings,
                          const Report& report);

}  // namespace engine::bench
