#include "proof/compared_lane.h"

#include <fmt/format.h>

#include <algorithm>

namespace engine::runtime::testing {

Coverage& Coverage::operator+=(const Coverage& other) {
  turns += other.turns, reused += other.reused, drafted += other.drafted;
  sampled += other.sampled, stopped += other.stopped, cancelled += other.cancelled;
  disconnected += other.disconnected, broken += other.broken;
  ring_kept += other.ring_kept, ring_absent += other.ring_absent;
  return *this;
}

ComparedLane::ComparedLane(ProofModel& model, const LaneShape& shape, const Checks& checks)
    : model_(model), shape_(shape), checks_(checks), engine_(make()) {}

std::optional<std::string> ComparedLane::take(const Request& request, Ending ending,
                                              std::uint32_t draw) {
  Engine cold = make();
  cold_ = run_until(model_, cold, request, {});
  kept_ = reuse(request.prompt);
  ring_kept_ = keeps_ring();
  exact_from_ = exact_drafter_rows();
  if (checks_.poison) {
    const bool ring = ring_kept_ && kept_ > 0;
    poison_all_but(engine_, kept_,
                   ring ? Rows{engine_.lane().drafter->begin(), kept_ - 1} : Rows{0, 0});
  }
  latest_ = run_until(model_, engine_, request, stop_at(ending, draw, cold_));
  count(request, ending);
  remember(request);
  return difference(request, cold);
}

Engine ComparedLane::make() const {
  const std::size_t ring =
      Drafter::smallest_ring(model_.network.config(), shape_.grid) + shape_.spare_ring_rows;
  return Engine(model_.network, {.context = shape_.longest_prompt + shape_.reply_room,
                                 .prompt_rows = shape_.grid,
                                 .ring_rows = ring,
                                 .log = {}});
}

std::size_t ComparedLane::reuse(const std::vector<Token>& prompt) const {
  const std::vector<Token>& tokens = record_.tokens;
  std::size_t common = 0;
  while (common < std::min(tokens.size(), prompt.size()) && tokens[common] == prompt[common])
    ++common;
  return std::min({common, record_.canonical_end, prompt.size() - 1}) / shape_.grid * shape_.grid;
}

// Whether the drafter's contract lets it keep the rows before the offset.
bool ComparedLane::keeps_ring() const {
  const Drafter& drafter = *engine_.lane().drafter;
  const std::size_t window = model_.network.config().mtp_window;
  const std::size_t oldest = kept_ > window ? kept_ - window : 0;
  return kept_ == 0 || (drafter.begin() <= oldest && drafter.end() + 1 >= kept_);
}

// A ring that starts empty at the offset makes one row fewer in its first launch, hence perhaps
// with another split.
std::size_t ComparedLane::exact_drafter_rows() const {
  if (kept_ == 0) return 0;
  return ring_kept_ ? std::min(exact_from_, kept_ - 1) : kept_ + shape_.grid - 1;
}

void ComparedLane::count(const Request& request, Ending ending) {
  ++coverage_.turns;
  coverage_.reused += kept_ > 0;
  coverage_.ring_kept += kept_ > 0 && ring_kept_;
  coverage_.ring_absent += !ring_kept_;
  coverage_.sampled += request.params.sampling.temperature > 0;
  coverage_.broken += !latest_.reply && ending == Ending::kBroken;
  coverage_.disconnected += !latest_.reply && ending == Ending::kDisconnected;
  if (!latest_.reply) return;
  coverage_.drafted += latest_.reply->stats.accepted > 0;
  coverage_.stopped += latest_.reply->finish == FinishReason::kStop;
  coverage_.cancelled += latest_.reply->finish == FinishReason::kCancelled;
}

void ComparedLane::remember(const Request& request) {
  prompt_ = text_ = request.prompt;
  text_.insert(text_.end(), latest_.streamed.begin(), latest_.streamed.end());
  record_.tokens.assign(prompt_.begin(), prompt_.begin() + static_cast<std::ptrdiff_t>(complete()));
  record_.canonical_end = complete();
  if (!latest_.reply || latest_.reply->tokens.empty()) return;
  const std::vector<Token>& reply = latest_.reply->tokens;
  record_.tokens.insert(record_.tokens.end(), reply.begin(), reply.end() - 1);
}

ComparedLane::Difference ComparedLane::difference(const Request& request,
                                                  const Engine& cold) const {
  if (checks_.accounting) {
    if (auto reason = accounting_difference(request)) return reason;
  }
  if (checks_.origins) {
    if (auto reason = origin_difference(engine_, cold, complete())) return reason;
  }
  const bool replied = latest_.reply && !latest_.reply->tokens.empty();
  const std::size_t decoded = replied ? latest_.reply->tokens.size() - 1 : 0;
  if (auto reason = row_difference(engine_, cold, complete() + decoded)) return reason;
  if (auto reason = reply_difference(latest_, cold_)) return reason;
  // A run that broke may have left a launch's rows half written; the next one shows what of them is
  // read.
  return latest_.reply ? drafter_difference(request, cold) : std::nullopt;
}

ComparedLane::Difference ComparedLane::accounting_difference(const Request& request) const {
  const PrefixCache& cache = engine_.cache();
  const std::span<const Token> record = cache.record();
  if (!std::equal(record.begin(), record.end(), record_.tokens.begin(), record_.tokens.end()))
    return fmt::format("the record has {} tokens, not the {} that were completed", record.size(),
                       record_.tokens.size());
#if SERIES_STEP >= 7
  if (cache.canonical_end() != record_.canonical_end)
    return fmt::format("canonical end {}, not {}", cache.canonical_end(), record_.canonical_end);
#endif
  if (!latest_.reply) return std::nullopt;
  const Stats& stats = latest_.reply->stats;
  if (stats.cached != kept_) return fmt::format("cached {}, not {}", stats.cached, kept_);
  if (stats.prompt_tokens != request.prompt.size()) return "prompt_tokens is not the prompt's";
  if (stats.prefill_rows != complete() - kept_)
    return fmt::format("{} rows computed, not {}", stats.prefill_rows, complete() - kept_);
  return std::nullopt;
}

ComparedLane::Difference ComparedLane::drafter_difference(const Request& request,
                                                          const Engine& cold) const {
  const Drafter &here = *engine_.lane().drafter, &there = *cold.lane().drafter;
  if (auto reason = ring_poison(engine_, {here.begin(), here.end()})) return reason;
  const Rows both{std::max({here.begin(), there.begin(), exact_from_}),
                  std::min(here.end(), there.end())};
  if (auto reason = ring_difference(engine_, cold, both)) return reason;
  // Drafts are a cold run's where the whole window is.
  const bool window = exact_from_ + model_.network.config().mtp_window < request.prompt.size();
  if ((exact_from_ > 0 && !window) || latest_.reply->finish == FinishReason::kCancelled)
    return std::nullopt;
  const Stats &a = latest_.reply->stats, &b = cold_.reply->stats;
  if (a.drafted != b.drafted || a.accepted != b.accepted)
    return fmt::format("{} of {} drafts accepted, cold {} of {}", a.accepted, a.drafted, b.accepted,
                       b.drafted);
  return std::nullopt;
}

}  // namespace engine::runtime::testing
