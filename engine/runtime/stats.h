// What one request cost. Values, never printed here.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <variant>

namespace engine::runtime {

struct Stats {
  std::size_t prompt_tokens = 0;
  std::size_t generated_tokens = 0;
  std::size_t prefill_chunks = 0;  // launches
  std::size_t prefill_rows = 0;    // rows computed by prefill
  std::size_t drafted = 0;         // tokens that the drafter proposed
  std::size_t accepted = 0;        // of those, how many the target kept
  double prefill_seconds = 0;
  double decode_seconds = 0;
};

using StatValue = std::variant<std::size_t, double, std::string_view>;

// Calls visit(name, value) for each field, in a fixed order: the one list that text and JSON print.
void for_each_stat(const Stats& stats,
                   const std::function<void(std::string_view, StatValue)>& visit);

}  // namespace engine::runtime
