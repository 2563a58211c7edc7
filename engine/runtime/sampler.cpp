#include "runtime/sampler.h"

#include <algorithm>
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

}  // namespace

Token sample_token(const std::vector<float>& logits, std::size_t position,
                   const SamplingParams& params) {
  std::vector<Candidate> candidates = largest_candidates(logits, params.top_k);
  const float total = keep_nucleus(candidates, weigh(candidates, params.temperature), params.top_p);
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
                                  const SamplingParams& params) {
  std::vector<kernels::Top2> top2(rows);
  backend.top2(top2, logits, vocabulary);
  std::vector<Choice> choices;
  for (const kernels::Top2& pair : top2)
    choices.push_back({pair.best, pair});
  if (params.temperature == 0) return choices;
  std::vector<float> row(vocabulary);
  for (std::size_t r = 0; r < rows; ++r) {
    backend.download(row.data(), logits + r * vocabulary, vocabulary * sizeof(float));
    choices[r].token = sample_token(row, position + r, params);
  }
  return choices;
}

}  // namespace engine::runtime
