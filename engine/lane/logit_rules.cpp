#include "lane/logit_rules.h"

#include <limits>
#include <map>
#include <set>

namespace engine::lane {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// In a fixed order, so that the sums have one order too: penalties of what was said, then the bias.
class Changing {
 public:
  Changing(const LogitChanges& changes, const runtime::Request& request)
      : changes_(changes), stops_(request.params.stop_tokens) {
    if (changes.repetition != 1) prompt_.insert(request.prompt.begin(), request.prompt.end());
  }

  void operator()(std::span<const model::Token> reply, std::span<float> logits) const {
    std::map<model::Token, std::size_t> said;
    for (const model::Token token : reply)
      ++said[token];
    if (changes_.repetition != 1) penalise_repetition(said, logits);
    for (const auto& [token, count] : said)
      at(logits, token) -= changes_.presence + changes_.frequency * static_cast<float>(count);
    for (const auto& [token, bias] : changes_.bias)
      at(logits, token) += bias;
    if (reply.size() >= changes_.min_tokens) return;
    for (const model::Token stop : stops_)
      at(logits, stop) = kNever;
  }

 private:
  static float& at(std::span<float> logits, model::Token token) {
    return logits[static_cast<std::size_t>(token)];
  }

  void penalise_repetition(const std::map<model::Token, std::size_t>& said,
                           std::span<float> logits) const {
    std::set<model::Token> seen = prompt_;
    for (const auto& [token, unused] : said)
      seen.insert(token);
    for (const model::Token token : seen) {
      float& logit = at(logits, token);
      logit = logit > 0 ? logit / changes_.repetition : logit * changes_.repetition;
    }
  }

  LogitChanges changes_;
  std::vector<model::Token> stops_;
  std::set<model::Token> prompt_;
};

}  // namespace

runtime::LogitsRule rule_of(const LogitChanges& changes, const runtime::Request& request) {
  if (changes.empty()) return {};
  return Changing(changes, request);
}

}  // namespace engine::lane
