// Two turns on one lane against the second turn alone: what every claim about reuse is measured by.
#pragma once

#include <optional>

#include "series/series_environment.h"

namespace engine::runtime::testing {

// A second turn: the first prompt, the reply to it, and new text.
struct Conversation {
  std::vector<Token> first;
  std::size_t reply_tokens;
  std::vector<Token> suffix;
};

struct Comparison {
  std::size_t cached = 0;
  std::vector<std::size_t>
      differing_layers;  // layers of the second prompt's rows that differ, ascending
  bool same_reply = true;

  bool equal() const { return differing_layers.empty() && same_reply; }
};

// Runs both turns on one lane, and the second alone on a fresh one with the same settings.
inline Comparison compare(const Conversation& conversation, const std::string& preset = "micro") {
  const SmallEngine small{.preset = preset};
  Engine lane = small.make(), fresh = small.make();
  const Reply first = lane.run(request_of(conversation.first, conversation.reply_tokens));
  const std::vector<Token> second =
      joined(joined(conversation.first, first.tokens), conversation.suffix);
  const Reply resumed = lane.run(request_of(second, 8)), cold = fresh.run(request_of(second, 8));
  Comparison result{.cached = resumed.stats.cached, .differing_layers = {}, .same_reply = false};
  result.same_reply = resumed.tokens == cold.tokens && resumed.logits == cold.logits;
  for (std::size_t layer = 0; layer < lane.lane().network.layers.size(); ++layer) {
    bool equal = true;
    for (std::size_t row = 0; equal && row < second.size(); ++row) {
      const auto a = lane.lane().state.read_row(layer, row),
                 b = fresh.lane().state.read_row(layer, row);
      for (std::size_t i = 0; equal && i < a.size(); ++i)
        equal = a[i].bits == b[i].bits;
    }
    if (!equal) result.differing_layers.push_back(layer);
  }
  return result;
}

// The three bugs are rare per row: a difference in the last bit of a sum must cross a rounding
// boundary of bf16. So each is shown on several conversations, of which at least one must differ.
struct Tally {
  std::size_t trials = 0, differing = 0, reused = 0;
  std::optional<std::size_t> first_layer;  // lowest layer that ever differed
};

inline Tally tally(const std::vector<Conversation>& conversations,
                   const std::string& preset = "micro") {
  Tally result;
  for (const Conversation& conversation : conversations) {
    const Comparison one = compare(conversation, preset);
    ++result.trials;
    result.reused += one.cached > 0;
    result.differing += !one.equal();
    if (one.differing_layers.empty()) continue;
    const std::size_t layer = one.differing_layers.front();
    result.first_layer = std::min(result.first_layer.value_or(layer), layer);
  }
  return result;
}

// The second prompt has exactly as many tokens as the first: it repeats it with another end.
inline Tally same_length() {
  Tally result;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const std::vector<Token> shared = random_tokens(150, seed);
    const std::vector<Token> a = joined(shared, random_tokens(30, seed + 50)),
                             b = joined(shared, random_tokens(30, seed + 90));
    Engine lane = SmallEngine{}.make(), fresh = SmallEngine{}.make();
    (void)lane.run(request_of(a, 4));
    const Reply resumed = lane.run(request_of(b, 4)), cold = fresh.run(request_of(b, 4));
    ++result.trials;
    result.reused += resumed.stats.cached > 0;
    result.differing += row_bits(lane, 0, b.size()) != row_bits(fresh, 0, b.size()) ||
                        resumed.logits != cold.logits;
  }
  return result;
}

// Lengths whose cold chunks have another row count on the two sides of a change of split.
inline std::vector<Conversation> different_lengths() {
  std::vector<Conversation> conversations;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    conversations.push_back({random_tokens(128, seed), 1, random_tokens(6, seed + 50)});
  }
  return conversations;
}

// The seed's 1020 + 10 -> 1024, scaled: the reply crosses a grid boundary.
inline std::vector<Conversation> replies_across_a_boundary() {
  std::vector<Conversation> conversations;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    conversations.push_back(
        {random_tokens(kGrid - 24 + seed, seed), 40, random_tokens(20, seed + 50)});
  }
  return conversations;
}

}  // namespace engine::runtime::testing
