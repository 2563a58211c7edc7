#include "runtime/sampler.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "numerics/exp.h"
#include "numerics/philox.h"

namespace engine::runtime {
namespace {

using kernels::Token;

struct Candidate {
  Token token;
  float logit;
  float weight = 0;  // unnormalised probability
};

// The kept candidates, largest logit first, ties to the lower id: a total order, so sums over it
// have one order too.
std::vector<Candidate> largest_candidates(const std::vector<float>& logits, std::size_t top_k) {
  std::vector<Candidate> all(logits.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = {static_cast<Token>(i), logits[i]};
  const std::size_t keep = top_k == 0 ? all.size() : std::min(top_k, all.size());
  const auto before = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keep), all.end(),
                    before);
  all.resize(keep);
  return all;
}

float weigh(std::vector<Candidate>& candidates, float temperature) {
  float total = 0;
  for (Candidate& c : candidates) {
    c.weight = numerics::exp((c.logit - candidates.front().logit) / temperature);
    total += c.weight;
  }
  return total;
}

// Cuts what is less likely than min_p times the likeliest, whose weight is 1; returns the kept
// weight.
float keep_likely(std::vector<Candidate>& candidates, float total, float min_p) {
  if (min_p == 0) return total;
  const auto end =
      std::ranges::find_if(candidates, [&](const Candidate& c) { return c.weight < min_p; });
  candidates.erase(end, candidates.end());
  return std::accumulate(candidates.begin(), candidates.end(), 0.0f,
                         [](float sum, const Candidate& c) { return sum + c.weight; });
}

// Cuts the tail once the kept weights reach top_p of the total; returns the kept weight.
float keep_nucleus(std::vector<Candidate>& candidates, float total, float top_p) {
  const float limit = top_p * total;
  float sum = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    sum += candidates[i].weight;
    if (sum >= limit) {
      candidates.resize(i + 1);
      break;
    }
  }
  return sum;
}

// As the backend's top2: ties go to the lower id.
kernels::Top2 two_largest(std::span<const float> logits) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  std::array<std::size_t, 2> order{0, 0};
  std::array<float, 2> largest{kNone, kNone};
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > largest[0]) {
      order = {i, order[0]};
      largest = {logits[i], largest[0]};
    } else if (logits[i] > largest[1]) {
      order[1] = i;
      largest[1] = logits[i];
    }
  }
  if (largest[1] == kNone) order[1] = order[0];  // what a rule bans is no second either
  return {static_cast<Token>(order[0]), static_cast<Token>(order[1])};
}

}  // namespace

Token sample_token(const std::vector<float>& logits, std::size_t position,
                   const SamplingParams& params) {
  std::vector<Candidate> candidates = largest_candidates(logits, params.top_k);
  const float likely = keep_likely(candidates, weigh(candidates, params.temperature), params.min_p);
  const float total = keep_nucleus(candidates, likely, params.top_p);
  const float threshold = numerics::uniform(params.seed, position) * total;
  float sum = 0;
  for (const Candidate& c : candidates) {
    sum += c.weight;
    if (sum > threshold) return c.token;
  }
  return candidates.back().token;
}

std::vector<Choice> choose_tokens(kernels::Backend& backend, const float* logits, std::size_t rows,
                                  std::size_t vocabulary, std::size_t position,
                                  const SamplingParams& params, std::span<const Token> reply) {
  std::vector<kernels::Top2> top2(rows);
  backend.top2(top2, logits, vocabulary);
  std::vector<Choice> choices;
  for (const kernels::Top2& pair : top2)
    choices.push_back({pair.best, pair});
  if (params.temperature == 0 && !params.rule) return choices;
  std::vector<float> row(vocabulary);
  for (std::size_t r = 0; r < rows; ++r) {
    backend.download(row.data(), logits + r * vocabulary, vocabulary * sizeof(float));
    if (params.rule) {
      params.rule(reply.first(reply.size() - (rows - 1 - r)), row);
      choices[r].top2 = two_largest(row);
      choices[r].token = choices[r].top2.best;
    }
    if (params.temperature > 0) choices[r].token = sample_token(row, position + r, params);
  }
  return choices;
}

}  // namespace engine::runtime
