#include "proof/conversation_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "kernels/ops.h"

namespace engine::runtime::testing {
namespace {

struct Disconnected {};

constexpr std::size_t kNever = FallibleBackend::kAll;
// Less than the longest reply, so that some replies fill the buffer.
constexpr std::size_t kReplyRoom = 6;

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The record as the contract describes it, kept by the test: what prefill completed, then the reply
// but its last token.
struct ExpectedRecord {
  std::vector<Token> tokens;
  std::size_t canonical_end = 0;

  std::size_t reuse(const std::vector<Token>& prompt, std::size_t grid) const {
    std::size_t common = 0;
    while (common < std::min(tokens.size(), prompt.size()) && tokens[common] == prompt[common])
      ++common;
    return std::min({common, canonical_end, prompt.size() - 1}) / grid * grid;
  }
};

// One run of a request: its reply, or what stopped it, and how many points it could be stopped at.
struct Outcome {
  std::optional<Reply> reply;
  std::size_t prefilled = 0;  // rows complete, by the callback
  std::size_t questions = 0;  // "cancelled?"
  std::size_t callbacks = 0;
  std::size_t operations = 0;
  std::vector<Token> streamed;
};

struct StopAt {
  std::size_t question = kNever, callback = kNever, operation = kNever;
};

Outcome run(ProofModel& model, Engine& engine, const Request& request, const StopAt& stop) {
  Outcome outcome;
  const auto calls = [&] {
    if (outcome.callbacks++ == stop.callback) throw Disconnected();
  };
  Callbacks callbacks;
  callbacks.on_prefill = [&](std::size_t done, std::size_t) {
    outcome.prefilled = done;
    calls();
  };
  callbacks.on_token = [&](Token token) {
    outcome.streamed.push_back(token);
    calls();
  };
  callbacks.cancelled = [&] { return outcome.questions++ == stop.question; };
  model.backend.arm(stop.operation);
  try {
    outcome.reply = engine.run(request, callbacks);
  } catch (const Disconnected&) {
  } catch (const kernels::BackendError&) {
  }
  outcome.operations = model.backend.seen();
  model.backend.disarm();
  return outcome;
}

Request request_for(const Turn& turn, std::vector<Token> prompt) {
  Request request = request_of(std::move(prompt), turn.max_tokens, turn.draft_tokens);
  if (turn.sampled) {
    request.params.sampling = {.temperature = 0.9f, .top_k = 0, .top_p = 0.95f, .seed = turn.seed};
  }
  for (Token token = 0; turn.stops && token < 320; token += 5)
    request.params.stop_tokens.push_back(token);
  return request;
}

StopAt stop_for(const Turn& turn, const Outcome& cold) {
  StopAt stop;
  if (turn.ending == Ending::kCancelled) stop.question = turn.draw % (cold.questions + 1);
  if (turn.ending == Ending::kDisconnected) stop.callback = turn.draw % (cold.callbacks + 1);
  if (turn.ending == Ending::kBroken) stop.operation = turn.draw % (cold.operations + 1);
  return stop;
}

// The lane of one conversation.
class ComparedLane {
 public:
  ComparedLane(ProofModel& model, const LaneShape& shape, const Checks& checks, Coverage& coverage)
      : model_(model), shape_(shape), checks_(checks), coverage_(coverage), engine_(make()) {}

  std::optional<std::string> take(const Turn& turn) {
    const std::vector<Token> prompt = next_prompt(turn, prompt_, text_, shape_.longest_prompt);
    const Request request = request_for(turn, prompt);
    Engine cold = make();
    const Outcome expected = run(model_, cold, request, {});
    const std::size_t kept = record_.reuse(prompt, shape_.grid);
    const Drafter& drafter = *engine_.lane().drafter;
    ring_kept_ = keeps_ring(kept);
    const Rows ring = ring_kept_ && kept > 0 ? Rows{drafter.begin(), kept - 1} : Rows{0, 0};
    exact_from_ = exact_drafter_rows(kept);
    if (checks_.poison) poison_all_but(engine_, kept, ring);
    const Outcome actual = run(model_, engine_, request, stop_for(turn, expected));
    count(turn, actual, kept);
    remember(prompt, actual, kept);
    return difference(request, actual, expected, cold, kept);
  }

 private:
  Engine make() const {
    const std::size_t ring =
        Drafter::smallest_ring(model_.network.config(), shape_.grid) + shape_.spare_ring_rows;
    return Engine(model_.network, {.context = shape_.longest_prompt + kReplyRoom,
                                   .prompt_rows = shape_.grid,
                                   .ring_rows = ring,
                                   .log = {}});
  }

  // Whether the drafter's contract lets it keep the rows before the offset.
  bool keeps_ring(std::size_t kept) const {
    const Drafter& drafter = *engine_.lane().drafter;
    const std::size_t window = model_.network.config().mtp_window;
    const std::size_t oldest = kept > window ? kept - window : 0;
    return kept == 0 || (drafter.begin() <= oldest && drafter.end() + 1 >= kept);
  }

  // The first position whose drafter row must have a cold run's bits. A ring that starts empty at
  // the offset makes one row fewer in its first launch, hence perhaps with another split.
  std::size_t exact_drafter_rows(std::size_t kept) const {
    if (kept == 0) return 0;
    return ring_kept_ ? std::min(exact_from_, kept - 1) : kept + shape_.grid - 1;
  }

  void count(const Turn& turn, const Outcome& actual, std::size_t kept) {
    ++coverage_.turns;
    coverage_.reused += kept > 0;
    coverage_.ring_kept += kept > 0 && ring_kept_;
    coverage_.ring_absent += !ring_kept_;
    coverage_.sampled += turn.sampled;
    coverage_.broken += !actual.reply && turn.ending == Ending::kBroken;
    coverage_.disconnected += !actual.reply && turn.ending == Ending::kDisconnected;
    if (!actual.reply) return;
    coverage_.drafted += actual.reply->stats.accepted > 0;
    coverage_.stopped += actual.reply->finish == FinishReason::kStop;
    coverage_.cancelled += actual.reply->finish == FinishReason::kCancelled;
  }

  void remember(const std::vector<Token>& prompt, const Outcome& actual, std::size_t kept) {
    prompt_ = prompt;
    text_ = prompt;
    text_.insert(text_.end(), actual.streamed.begin(), actual.streamed.end());
    const std::size_t complete = std::max(kept, actual.prefilled);
    record_.tokens.assign(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(complete));
    record_.canonical_end = complete;
    if (!actual.reply || actual.reply->tokens.empty()) return;
    const std::vector<Token>& reply = actual.reply->tokens;
    record_.tokens.insert(record_.tokens.end(), reply.begin(), reply.end() - 1);
  }

  std::optional<std::string> difference(const Request& request, const Outcome& actual,
                                        const Outcome& expected, const Engine& cold,
                                        std::size_t kept) const {
    if (checks_.accounting) {
      if (auto reason = accounting_difference(request, actual, kept)) return reason;
    }
    if (auto reason = reply_difference(actual, expected)) return reason;
    const std::size_t complete = std::max(kept, actual.prefilled);
    const std::size_t decoded =
        actual.reply && !actual.reply->tokens.empty() ? actual.reply->tokens.size() - 1 : 0;
    if (checks_.origins) {
      if (auto reason = origin_difference(engine_, cold, complete)) return reason;
    }
    if (auto reason = row_difference(engine_, cold, complete + decoded)) return reason;
    // A run that broke may have left a launch's rows half written; the next turn shows what of them
    // is read.
    return actual.reply ? drafter_difference(request, actual, expected, cold) : std::nullopt;
  }

  std::optional<std::string> accounting_difference(const Request& request, const Outcome& actual,
                                                   std::size_t kept) const {
    const auto record = engine_.cache().record();
    if (!std::equal(record.begin(), record.end(), record_.tokens.begin(), record_.tokens.end()))
      return fmt::format("the record has {} tokens, not the {} that were completed", record.size(),
                         record_.tokens.size());
    if (engine_.cache().canonical_end() != record_.canonical_end)
      return fmt::format("canonical end {}, not {}", engine_.cache().canonical_end(),
                         record_.canonical_end);
    if (!actual.reply) return std::nullopt;
    const Stats& stats = actual.reply->stats;
    if (stats.cached != kept) return fmt::format("cached {}, not {}", stats.cached, kept);
    if (stats.prompt_tokens != request.prompt.size()) return "prompt_tokens is not the prompt's";
    if (stats.prefill_rows != std::max(kept, actual.prefilled) - kept)
      return fmt::format("{} rows computed", stats.prefill_rows);
    return std::nullopt;
  }

  // A reply that was cut short must be the beginning of the cold one.
  static std::optional<std::string> reply_difference(const Outcome& actual,
                                                     const Outcome& expected) {
    const auto begins = [](const auto& part, const auto& whole, auto same) {
      return part.size() <= whole.size() &&
             std::equal(part.begin(), part.end(), whole.begin(), same);
    };
    if (!begins(actual.streamed, expected.streamed, std::equal_to<>())) return "tokens differ";
    if (!actual.reply) return std::nullopt;
    if (!begins(actual.reply->logits, expected.reply->logits, same_bits)) return "logits differ";
    if (actual.reply->finish == FinishReason::kCancelled) return std::nullopt;
    if (actual.reply->tokens != expected.reply->tokens) return "the reply is shorter";
    if (actual.reply->finish != expected.reply->finish) return "ended otherwise";
    return std::nullopt;
  }

  std::optional<std::string> drafter_difference(const Request& request, const Outcome& actual,
                                                const Outcome& expected, const Engine& cold) const {
    const Drafter &here = *engine_.lane().drafter, &there = *cold.lane().drafter;
    if (auto reason = ring_poison(engine_, {here.begin(), here.end()})) return reason;
    const Rows both{std::max({here.begin(), there.begin(), exact_from_}),
                    std::min(here.end(), there.end())};
    if (auto reason = ring_difference(engine_, cold, both)) return reason;
    // Drafts are a cold run's where the whole window is.
    const bool window = exact_from_ + model_.network.config().mtp_window < request.prompt.size();
    if ((exact_from_ > 0 && !window) || actual.reply->finish == FinishReason::kCancelled)
      return std::nullopt;
    const Stats &a = actual.reply->stats, &b = expected.reply->stats;
    if (a.drafted != b.drafted || a.accepted != b.accepted)
      return fmt::format("{} of {} drafts accepted, cold {} of {}", a.accepted, a.drafted,
                         b.accepted, b.drafted);
    return std::nullopt;
  }

  ProofModel& model_;
  LaneShape shape_;
  Checks checks_;
  Coverage& coverage_;
  Engine engine_;
  ExpectedRecord record_;
  std::vector<Token> prompt_, text_;
  bool ring_kept_ = true;  // in the turn at hand
  std::size_t exact_from_ = 0;
};

}  // namespace

Coverage& Coverage::operator+=(const Coverage& other) {
  turns += other.turns, reused += other.reused, drafted += other.drafted;
  sampled += other.sampled, stopped += other.stopped, cancelled += other.cancelled;
  disconnected += other.disconnected, broken += other.broken;
  ring_kept += other.ring_kept, ring_absent += other.ring_absent;
  return *this;
}

std::optional<Failure> run_conversation(ProofModel& model, const Conversation& conversation,
                                        const Checks& checks, Coverage& coverage) {
  ComparedLane lane(model, conversation.lane, checks, coverage);
  for (std::size_t turn = 0; turn < conversation.turns.size(); ++turn) {
    if (auto reason = lane.take(conversation.turns[turn])) return Failure{turn, *reason};
  }
  return std::nullopt;
}

}  // namespace engine::runtime::testing
