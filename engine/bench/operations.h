// Each operation of a layer alone.
#pragma once

#include "bench/bench.h"

namespace engine::bench {

// Lines with time, bytes and floating-point operations per second, for launches of 1, 8, 64 and
// settings.prompt_rows rows, over the weights of successive layers so that no cache holds them.
void measure_operations(const runtime::Network& network, const Settings& settings,
                        const Report& report);

}  // namespace engine::bench
