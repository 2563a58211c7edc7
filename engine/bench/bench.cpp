#include "bench/bench.h"

#include "bench/conversation.h"
#include "bench/operations.h"
#include "bench/prompts.h"

namespace engine::bench {

void run(const runtime::Network& network, const Settings& settings, const Report& report) {
  if (settings.turns > 0) return measure_conversation(network, settings, report);
  for (const std::size_t rows : settings.prompt_rows)
    measure_prompts(network, settings, rows, report);
  measure_operations(network, settings, report);
}

}  // namespace engine::bench
