// Which experts a row goes to, and the weights of what they give.
//
// Roundings of a layer with experts, in order. x is the layer's normed input, in bf16.
//   logits   x * router^T as any matrix product, float32
//   scores   sigmoid or softmax of a row's logits, float32, by numerics::exp
//   choice   by score + bias; the bias takes part in nothing else
//   weights  the chosen scores, divided by their sum where the model says so, times `scale`
//   expert   bf16(silu(gate) * up) of its first product, then its second, float32
//   row      sum = fma(weight, expert's output, sum) from +0 over the row's experts in ascending
//            id; then the shared expert's output is added to the sum, unweighted
// Both of an expert's products have the K split of a product with all of the launch's rows,
// split_k(R, N, K), however many of them the expert was given: a row's bits must not depend on
// where its neighbours go.
//
// Sources: DeepSeek-V3 (arXiv 2412.19437, 2.1.2; groups: 2.1.3), Mixtral (arXiv 2401.04088, 2.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "numerics/exp.h"
#include "numerics/reduce.h"

namespace engine::numerics {

inline constexpr std::size_t kMaxExperts = 512;  // E
inline constexpr std::size_t kMaxChosen = 32;    // T
inline constexpr std::size_t kMaxExpertGroups = 32;

enum class RouterScore { kSigmoid, kSoftmax };

// REQUIRES: the limits above; groups divides experts, and a group has two experts at least where
// there is more than one; kept_groups <= groups; the kept groups have `chosen` experts.
struct RouterRule {
  RouterScore score = RouterScore::kSoftmax;
  std::uint32_t experts = 0;      // E; 0: no router
  std::uint32_t chosen = 0;       // T, of each row
  std::uint32_t groups = 1;       // of neighbouring experts
  std::uint32_t kept_groups = 1;  // the others' experts are not chosen
  bool normalised = false;        // weights are divided by their sum
  float scale = 1;                // of the weights
};

ENGINE_HD inline float sigmoid(float x) {
  return 1.0f / (1.0f + exp(-x));
}

// A total order for choices: larger is better. NaN is the worst, -0 equals +0, and nothing is 0,
// which is left to what must not be chosen.
ENGINE_HD inline std::uint32_t choice_key(float value) {
  if (value != value) return 1;
  const std::uint32_t bits = float_bits(value + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

// The same with ties broken: the lower id is the better.
ENGINE_HD inline std::uint64_t choice_rank(std::uint32_t key, std::uint32_t id) {
  return static_cast<std::uint64_t>(key) << 32 | (0xffffffffu - id);
}
ENGINE_HD inline std::uint32_t ranked_id(std::uint64_t rank) {
  return 0xffffffffu - static_cast<std::uint32_t>(rank);
}

// What a group is chosen by: the sum of its two best values.  REQUIRES: size >= 2.
ENGINE_HD inline float group_score(const float* values, std::uint32_t size) {
  float best = values[0], second = values[1];
  for (std::uint32_t i = 1; i < size; ++i) {
    if (choice_key(values[i]) > choice_key(best)) {
      second = best;
      best = values[i];
    } else if (i == 1 || choice_key(values[i]) > choice_key(second)) {
      second = values[i];
    }
  }
  return best + second;
}

// `sum` is that of the row's chosen scores, added in ascending id from +0.
ENGINE_HD inline float expert_weight(float score, float sum, const RouterRule& rule) {
  return (rule.normalised ? score / (sum + 1e-20f) : score) * rule.scale;
}

// The scores of one row: sigmoid of each logit, or softmax with the sum in the order of reduce.h
// (lane l adds scores l, l + 32, ... ascending, then the xor tree).
inline void router_scores(std::span<float> scores, std::span<const float> logits,
                          RouterScore kind) {
  if (kind == RouterScore::kSigmoid) {
    for (std::size_t e = 0; e < logits.size(); ++e)
      scores[e] = sigmoid(logits[e]);
    return;
  }
  float largest = logits[0];
  for (const float logit : logits)
    largest = choice_key(logit) > choice_key(largest) ? logit : largest;
  float lanes[kReduceLanes] = {};
  for (std::size_t e = 0; e < logits.size(); ++e) {
    scores[e] = exp(logits[e] - largest);
    lanes[e % kReduceLanes] = lanes[e % kReduceLanes] + scores[e];
  }
  const float sum = xor_tree(lanes, kReduceLanes);
  for (float& score : scores)
    score = score / sum;
}

namespace detail {

// Marks the `count` best of keys[0, n) in `marks`, which are false.
inline void mark_best(std::span<bool> marks, std::span<const std::uint32_t> keys,
                      std::size_t count) {
  for (; count > 0; --count) {
    std::uint64_t best = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t rank = choice_rank(keys[i], static_cast<std::uint32_t>(i));
      if (!marks[i] && rank > best) best = rank;
    }
    marks[ranked_id(best)] = true;
  }
}

}  // namespace detail

// One row's experts, ascending, and their weights, from logits [E] and bias [E], or null: the
// definition that a device follows with a warp for each row.  REQUIRES: both outputs hold T.
inline void route_row(std::int32_t* experts, float* weights, const float* logits, const float* bias,
                      const RouterRule& rule) {
  const std::size_t E = rule.experts, size = E / rule.groups;
  float scores[kMaxExperts], values[kMaxExperts];
  std::uint32_t keys[kMaxExperts], group_keys[kMaxExpertGroups];
  bool kept[kMaxExpertGroups] = {}, chosen[kMaxExperts] = {};
  router_scores({scores, E}, {logits, E}, rule.score);
  for (std::size_t e = 0; e < E; ++e)
    values[e] = bias == nullptr ? scores[e] : scores[e] + bias[e];
  if (rule.groups > 1) {
    for (std::size_t g = 0; g < rule.groups; ++g)
      group_keys[g] = choice_key(group_score(values + g * size, static_cast<std::uint32_t>(size)));
    detail::mark_best({kept, rule.groups}, {group_keys, rule.groups}, rule.kept_groups);
  }
  for (std::size_t e = 0; e < E; ++e)
    keys[e] = rule.groups == 1 || kept[e / size] ? choice_key(values[e]) : 0;
  detail::mark_best({chosen, E}, {keys, E}, rule.chosen);
  float sum = 0.0f;
  std::size_t count = 0;
  for (std::size_t e = 0; e < E; ++e) {
    if (!chosen[e]) continue;
    experts[count++] = static_cast<std::int32_t>(e);
    sum = sum + scores[e];
  }
  for (std::size_t t = 0; t < count; ++t)
    weights[t] = expert_weight(scores[static_cast<std::size_t>(experts[t])], sum, rule);
}

}  // namespace engine::numerics
