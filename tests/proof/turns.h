// Random conversations as data: drawn from a seed, printed, and shrunk when one fails. Pure:
// nothing here runs a model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/ops.h"

namespace engine::runtime::testing {

// What a client does with the text so far (the latest prompt and its reply) to make the next
// prompt.
enum class Move : std::uint8_t {
  kExtend,    // the text and `added` new tokens
  kRepeat,    // the latest prompt again
  kTruncate,  // the text's first `at` tokens
  kBranch,    // those, and `added` new tokens
  kEdit,      // the text with the token at `at` replaced, and `added` new tokens
  kRestart,   // `added` new tokens alone
};

// How a request ends before its time. Each takes the n-th of the points that a cold run of the same
// prompt has, n = draw mod (points + 1), so that the last choice ends nothing.
enum class Ending : std::uint8_t {
  kNone,
  kCancelled,     // the caller cancels at the n-th question
  kDisconnected,  // the caller's n-th callback throws
  kBroken,        // the backend throws at the n-th operation
};

struct Turn {
  Move move = Move::kExtend;
  std::size_t at = 0;      // taken modulo the text's length
  std::size_t added = 1;   // new tokens
  std::uint64_t seed = 0;  // of the new tokens and of sampling
  std::size_t max_tokens = 1;
  std::size_t draft_tokens = 0;
  bool sampled = false;
  bool stops = false;  // a fifth of the vocabulary are stop tokens
  Ending ending = Ending::kNone;
  std::uint32_t draw = 0;
};

struct LaneShape {
  std::size_t grid = 16;
  std::size_t longest_prompt = 64;
  // Fewer than the longest reply, so that some replies fill the buffer.
  std::size_t reply_room = 6;
  // Ring rows beyond the smallest ring; a ring with none forgets soonest.
  std::size_t spare_ring_rows = 0;
};

struct Conversation {
  LaneShape lane;
  std::vector<Turn> turns;
};

// The same for every machine. Positions are drawn near multiples of the grid half of the time.
Conversation draw_conversation(std::uint64_t seed, const LaneShape& lane, std::size_t turns);

// The next prompt: never empty, at most `longest` tokens.
std::vector<kernels::Token> next_prompt(const Turn& turn,
                                        const std::vector<kernels::Token>& latest_prompt,
                                        const std::vector<kernels::Token>& text,
                                        std::size_t longest);

// One line a turn.
std::string to_string(const Conversation& conversation);

// The smallest conversation that this finds for which `fails` still holds: drops turns, then makes
// each turn simpler, until nothing more can go. REQUIRES: fails(conversation).
Conversation shrink(Conversation conversation,
                    const std::function<bool(const Conversation&)>& fails);

// 1 - 0.05^(1/n): the failure rate that zero failures in n independent trials exclude at 95 %
// confidence.
double failure_rate_bound(std::size_t trials);

}  // namespace engine::runtime::testing
