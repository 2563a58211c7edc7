#include "runtime/stats.h"

namespace engine::runtime {

void for_each_stat(const Stats& stats,
                   const std::function<void(std::string_view, StatValue)>& visit) {
  visit("prompt_tokens", stats.prompt_tokens);
  visit("generated_tokens", stats.generated_tokens);
  visit("prefill_chunks", stats.prefill_chunks);
  visit("prefill_rows", stats.prefill_rows);
  visit("drafted", stats.drafted);
  visit("accepted", stats.accepted);
  visit("prefill_seconds", stats.prefill_seconds);
  visit("decode_seconds", stats.decode_seconds);
}

}  // namespace engine::runtime
