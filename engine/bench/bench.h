// What `engine bench` measures: whole prompts, single operations, or a conversation that grows.
//
// Every line of a report is a JSON object: "what" was measured, at which sizes, and the figures.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/network.h"

namespace engine::bench {

struct Settings {
  std::vector<std::size_t> lengths{2700, 15900};    // prompt tokens
  std::size_t turns = 0;                            // of a growing conversation; 0: none
  std::vector<std::size_t> prompt_rows{512, 2048};  // chunk sizes to try
  std::size_t tokens = 64;                          // generated after each prompt
};

using Report = std::function<void(nlohmann::ordered_json)>;

// With settings.turns the conversation alone (conversation.h); else prompts, then operations.
// Throws BackendError if the backend has no room, RequestError if the network's context is too
// short.
void run(const runtime::Network& network, const Settings& settings, const Report& report);

}  // namespace engine::bench
