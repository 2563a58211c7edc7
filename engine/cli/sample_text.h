// Prose and code that `digest` and `kv-diff` cut their prompts from.
#pragma once

#include <string_view>

namespace engine::cli {

std::string_view sample_text();

}  // namespace engine::cli
