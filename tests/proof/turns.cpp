#include "proof/turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "numerics/philox.h"

namespace engine::runtime::testing {
namespace {

using kernels::Token;

constexpr std::array kMoves{"extend", "repeat", "truncate", "branch", "edit", "restart"};
constexpr std::array kEndings{"", ", cancelled", ", disconnected", ", broken"};

// Numbers from a counter: what is drawn does not depend on the machine's library.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}

  std::uint32_t any() { return numerics::philox(seed_, count_++)[0]; }
  std::size_t below(std::size_t limit) { return any() % limit; }
  bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

// Near a grid boundary as often as not: that is where reuse is decided.
std::size_t draw_position(Draw& draw, const LaneShape& lane) {
  if (draw.one_in(2)) return draw.below(lane.longest_prompt);
  const std::size_t boundary = lane.grid * (1 + draw.below(lane.longest_prompt / lane.grid));
  return boundary + draw.below(5) - 2;
}

Move draw_move(Draw& draw) {
  constexpr std::array kWeighted{Move::kExtend,   Move::kExtend, Move::kExtend, Move::kRepeat,
                                 Move::kTruncate, Move::kBranch, Move::kBranch, Move::kEdit,
                                 Move::kEdit,     Move::kRestart};
  return kWeighted[draw.below(kWeighted.size())];
}

Turn draw_turn(Draw& draw, const LaneShape& lane) {
  Turn turn{.move = draw_move(draw), .at = draw_position(draw, lane)};
  turn.added = turn.move == Move::kRestart ? 1 + draw_position(draw, lane)
                                           : 1 + draw.below(lane.grid + lane.grid / 2);
  turn.seed = draw.any();
  turn.max_tokens = 1 + draw.below(10);
  turn.draft_tokens = draw.one_in(3) ? 0 : 1 + draw.below(7);
  turn.sampled = draw.one_in(2);
  turn.stops = draw.one_in(4);
  if (draw.one_in(4)) turn.ending = static_cast<Ending>(1 + draw.below(3));
  turn.draw = draw.any();
  return turn;
}

std::vector<Token> new_tokens(std::size_t count, std::uint64_t seed) {
  std::vector<Token> tokens(count);
  for (std::size_t i = 0; i < count; ++i)
    tokens[i] = static_cast<Token>(numerics::philox(seed, i)[0] % 256);
  return tokens;
}

std::string to_string(const Turn& turn) {
  return fmt::format("{:8} at {:3} + {:3} tokens, reply {:2}, drafts {}{}{}{} (draw {})",
                     kMoves[static_cast<std::size_t>(turn.move)], turn.at, turn.added,
                     turn.max_tokens, turn.draft_tokens, turn.sampled ? ", sampled" : "",
                     turn.stops ? ", stops" : "", kEndings[static_cast<std::size_t>(turn.ending)],
                     turn.draw);
}

// Each one simpler than `turn` in one way.
std::vector<Turn> simpler(const Turn& turn) {
  std::vector<Turn> all;
  const auto add = [&](auto change) {
    Turn& copy = all.emplace_back(turn);
    change(copy);
  };
  if (turn.ending != Ending::kNone) add([](Turn& t) { t.ending = Ending::kNone; });
  if (turn.sampled) add([](Turn& t) { t.sampled = false; });
  if (turn.stops) add([](Turn& t) { t.stops = false; });
  if (turn.draft_tokens > 0) add([](Turn& t) { t.draft_tokens = 0; });
  if (turn.max_tokens > 1) add([](Turn& t) { t.max_tokens = 1; });
  if (turn.max_tokens > 1) add([](Turn& t) { --t.max_tokens; });
  if (turn.added > 1) add([](Turn& t) { t.added /= 2; });
  if (turn.added > 1) add([](Turn& t) { --t.added; });
  if (turn.move == Move::kEdit) add([](Turn& t) { t.move = Move::kBranch; });
  if (turn.move == Move::kBranch) add([](Turn& t) { t.move = Move::kExtend; });
  return all;
}

// One step: a smaller conversation that fails, if there is one.
bool shrink_once(Conversation& conversation,
                 const std::function<bool(const Conversation&)>& fails) {
  const auto adopt = [&](Conversation&& candidate) {
    if (candidate.turns.empty() || !fails(candidate)) return false;
    conversation = std::move(candidate);
    return true;
  };
  for (std::size_t i = conversation.turns.size(); i-- > 0;) {
    Conversation shorter = conversation;
    shorter.turns.erase(shorter.turns.begin() + static_cast<std::ptrdiff_t>(i));
    if (adopt(std::move(shorter))) return true;
  }
  for (std::size_t i = 0; i < conversation.turns.size(); ++i) {
    for (const Turn& turn : simpler(conversation.turns[i])) {
      Conversation changed = conversation;
      changed.turns[i] = turn;
      if (adopt(std::move(changed))) return true;
    }
  }
  return false;
}

}  // namespace

Conversation draw_conversation(std::uint64_t seed, const LaneShape& lane, std::size_t turns) {
  Draw draw(seed);
  Conversation conversation{lane, {}};
  for (std::size_t i = 0; i < turns; ++i)
    conversation.turns.push_back(draw_turn(draw, lane));
  conversation.turns.front().move = Move::kRestart;
  conversation.turns.front().added = 1 + draw_position(draw, lane);
  return conversation;
}

std::vector<Token> next_prompt(const Turn& turn, const std::vector<Token>& latest_prompt,
                               const std::vector<Token>& text, std::size_t longest) {
  const std::size_t at = text.empty() ? 0 : turn.at % text.size();
  std::vector<Token> prompt = text;
  if (turn.move == Move::kRepeat) prompt = latest_prompt;
  if (turn.move == Move::kTruncate || turn.move == Move::kBranch) prompt.resize(at);
  if (turn.move == Move::kRestart) prompt.clear();
  if (turn.move == Move::kEdit && !prompt.empty()) prompt[at] = (prompt[at] + 1) % 256;
  const bool adds = turn.move != Move::kRepeat && turn.move != Move::kTruncate;
  // A text that has filled the buffer makes room for what is added, as a client would.
  if (adds && prompt.size() + turn.added > longest) prompt.resize(std::min(prompt.size(), at));
  if (adds || prompt.empty()) {
    const std::vector<Token> added = new_tokens(std::max<std::size_t>(1, turn.added), turn.seed);
    prompt.insert(prompt.end(), added.begin(), added.end());
  }
  prompt.resize(std::min(prompt.size(), longest));
  return prompt;
}

std::string to_string(const Conversation& conversation) {
  std::string text =
      fmt::format("grid {}, prompts up to {} tokens, {} spare ring rows\n", conversation.lane.grid,
                  conversation.lane.longest_prompt, conversation.lane.spare_ring_rows);
  for (std::size_t i = 0; i < conversation.turns.size(); ++i)
    text += fmt::format("  turn {}: {}\n", i, to_string(conversation.turns[i]));
  return text;
}

Conversation shrink(Conversation conversation,
                    const std::function<bool(const Conversation&)>& fails) {
  while (shrink_once(conversation, fails)) {
  }
  return conversation;
}

double failure_rate_bound(std::size_t trials) {
  return 1 - std::pow(0.05, 1 / static_cast<double>(trials));
}

}  // namespace engine::runtime::testing
