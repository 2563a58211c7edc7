// Cold prompts, and a short suffix after a long one.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/bench.h"

namespace engine::bench {

// For each of settings.lengths a line of prefill and one of decode, then one of a suffix of 512
// tokens after the longest: what a resumed turn computes. Chunks of at most `prompt_rows` rows.
void measure_prompts(const runtime::Network& network, const Settings& settings,
                     std::size_t prompt_rows, const Report& report);

// `count` tokens below `vocabulary`, the same for the same `first`.
std::vector<kernels::Token> bench_tokens(std::size_t count, std::size_t vocabulary,
                                         std::size_t first = 0);

}  // namespace engine::bench
