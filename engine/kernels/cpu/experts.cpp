#include "kernels/cpu/experts.h"

#include <algorithm>
#include <cassert>

#include "kernels/cpu/matmul.h"

namespace engine::kernels::cpu {
namespace {

// Sorts the pairs by expert, then row: counts, where each expert begins, then one after another.
void place_pairs(const Routes& out, std::size_t rows, std::size_t chosen, std::size_t experts) {
  const std::size_t pairs = rows * chosen;
  std::fill_n(out.begins, experts + 1, 0);
  for (std::size_t i = 0; i < pairs; ++i)
    ++out.begins[out.experts[i] + 1];
  for (std::size_t e = 0; e < experts; ++e)
    out.begins[e + 1] += out.begins[e];
  std::vector<std::int32_t> next(out.begins, out.begins + experts);
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::int32_t place = next[static_cast<std::size_t>(out.experts[i])]++;
    out.places[i] = place;
    out.rows[place] = static_cast<std::int32_t>(i / chosen);
  }
}

}  // namespace

PanelExperts::PanelExperts(std::span<const MatrixPart> parts, std::size_t inner,
                           std::size_t experts, Threads& threads) {
  assert(experts > 0 && parts.size() % experts == 0);
  const std::size_t each = parts.size() / experts;
  matrices_.reserve(experts);
  for (std::size_t e = 0; e < experts; ++e)
    matrices_.emplace_back(parts.subspan(e * each, each), inner, threads);
}

void route(const Routes& out, const RouteArgs& args, std::size_t rows, Threads& threads) {
  const std::size_t chosen = args.rule.chosen, experts = args.rule.experts;
  threads.for_range(rows, 8 * experts, [&](std::size_t r, std::size_t end) {
    for (; r < end; ++r) {
      numerics::route_row(out.experts + r * chosen, out.weights + r * chosen,
                          args.logits + r * experts, args.bias, args.rule);
    }
  });
  place_pairs(out, rows, chosen, experts);
}

void gather(bf16* out, const bf16* x, const RoutedRows& routed, std::size_t hidden,
            Threads& threads) {
  threads.for_range(routed.pairs(), hidden / 8, [&](std::size_t i, std::size_t end) {
    for (; i < end; ++i) {
      const auto row = static_cast<std::size_t>(routed.routes.rows[i]);
      std::copy_n(x + row * hidden, hidden, out + i * hidden);
    }
  });
}

void matmul_experts(float* out, const bf16* x, const PanelExperts& w, const RoutedRows& routed,
                    std::size_t split, Threads& threads) {
  for (std::size_t e = 0; e < w.experts(); ++e) {
    const auto begin = static_cast<std::size_t>(routed.routes.begins[e]);
    const std::size_t rows = static_cast<std::size_t>(routed.routes.begins[e + 1]) - begin;
    if (rows == 0) continue;
    matmul({.out = out + begin * w.outputs(),
            .x = x + begin * w.inner(),
            .w = w[e],
            .bias = nullptr,
            .rows = rows,
            .split = split,
            .accumulate = false},
           threads);
  }
}

void mix(float* out, const float* x, const RoutedRows& routed, std::size_t hidden,
         Threads& threads) {
  threads.for_range(routed.rows, routed.chosen * hidden / 4, [&](std::size_t r, std::size_t end) {
    for (; r < end; ++r) {
      float* sums = out + r * hidden;
      std::fill_n(sums, hidden, 0.0f);
      for (std::size_t pair = r * routed.chosen; pair < (r + 1) * routed.chosen; ++pair) {
        const float weight = routed.routes.weights[pair];
        const float* from = x + static_cast<std::size_t>(routed.routes.places[pair]) * hidden;
        for (std::size_t i = 0; i < hidden; ++i)
          sums[i] = numerics::fma(weight, from[i], sums[i]);
      }
    }
  });
}

}  // namespace engine::kernels::cpu
