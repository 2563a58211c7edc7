#include "kernels/cpu/index.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "kernels/cpu/limits.h"
#include "kernels/cpu/score_problem.h"
#include "numerics/index.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/index.cpp"
#include <hwy/foreach_target.h>  // must precede highway.h

#include "kernels/cpu/fused16-inl.h"
#include "kernels/cpu/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

struct alignas(64) PanelRow {
  float values[kPanel];
};

// [F/16, rows J]
std::vector<DecodedRow> decode_queries(const ScoreProblem& p) {
  const std::size_t groups = p.index.size / kGroup, queries = p.rows * p.index.heads;
  std::vector<DecodedRow> decoded(groups * queries);
  for (std::size_t q = 0; q < queries; ++q) {
    for (std::size_t g = 0; g < groups; ++g)
      decode_row(decoded[g * queries + q], p.query + (q * groups + g) * kGroup);
  }
  return decoded;
}

// One row's sums over its heads: dots [J, 32].
void add_heads(float* HWY_RESTRICT sums, const PanelRow* dots, const float* weights,
               std::size_t heads) {
  std::fill_n(sums, kPanel, 0.0f);
  for (std::size_t j = 0; j < heads; ++j) {
    for (std::size_t c = 0; c < kPanel; ++c)
      sums[c] = numerics::fma(weights[j], numerics::relu(dots[j].values[c]), sums[c]);
  }
}

// Scores of the keys [key, key + 32) by the rows from `first` on. Keys that no row sees are not
// read.
void score_panel(const ScoreProblem& p, const std::vector<DecodedRow>& queries, std::size_t key,
                 std::vector<PanelRow>& dots) {
  static constexpr bf16 kZeros[kMaxKeySize] = {};
  const std::size_t F = p.index.size, J = p.index.heads, all = p.rows * J;
  const std::size_t first = key > p.position ? key - p.position : 0;
  const bf16* keys[kPanel];
  for (std::size_t c = 0; c < kPanel; ++c)
    keys[c] = key + c < p.end() ? p.kept.index_keys + (key + c) % p.kept.slots * F : kZeros;
  std::fill(dots.begin(), dots.end(), PanelRow{});
  {
    alignas(64) bf16 transposed[kGroup * kPanel];
    DecodedGroup group;
    const TowardZero rounding;
    for (std::size_t g = 0; g < F / kGroup; ++g) {
      transpose_group(transposed, keys, g * kGroup);
      decode_group(group, transposed, kPanel);
      fused16_rows(dots[first * J].values, kPanel, &queries[g * all + first * J], all - first * J,
                   group);
    }
  }
  for (std::size_t r = first; r < p.rows; ++r) {
    float sums[kPanel];
    add_heads(sums, &dots[r * J], p.weights + r * J, J);
    std::copy_n(sums, std::min(kPanel, p.end() - key), p.scores + r * p.kept.slots + key);
  }
}

void score_target(const ScoreProblem& p, Threads& threads) {
  assert(p.index.size <= kMaxKeySize && p.index.size % kGroup == 0);
  const std::vector<DecodedRow> queries = decode_queries(p);
  const std::size_t panels = (p.end() + kPanel - 1) / kPanel;
  const std::size_t cost = p.rows * p.index.heads * p.index.size * kPanel / 8;
  threads.for_range(panels, cost, [&](std::size_t i, std::size_t end) {
    std::vector<PanelRow> dots(p.rows * p.index.heads);
    for (; i < end; ++i)
      score_panel(p, queries, i * kPanel, dots);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace engine::kernels::cpu {

HWY_EXPORT(score_target);

void choose(std::int32_t* chosen, const LatentRows& kept, const IndexShape& index,
            const ChooseArgs& args, std::size_t rows, Threads& threads) {
  const std::size_t J = index.heads, most = index.most;
  // Rows before that one attend to everything, and need no scores.
  const std::size_t complete = most > args.position ? std::min(rows, most - args.position) : 0;
  for (std::size_t r = 0; r < complete; ++r)
    numerics::choose_positions(chosen + r * most, nullptr, args.position + r + 1, most);
  for (std::size_t r = complete; r < rows; r += kIndexRows) {
    const ScoreProblem problem{.kept = kept,
                               .index = index,
                               .query = args.query + r * J * index.size,
                               .weights = args.weights + r * J,
                               .scores = args.scores,
                               .position = args.position + r,
                               .rows = std::min(kIndexRows, rows - r)};
    HWY_DYNAMIC_DISPATCH(score_target)(problem, threads);
    threads.for_range(problem.rows, 4 * problem.end(), [&](std::size_t i, std::size_t end) {
      for (; i < end; ++i) {
        numerics::choose_positions(chosen + (r + i) * most, args.scores + i * kept.slots,
                                   problem.position + i + 1, most);
      }
    });
  }
}

}  // namespace engine::kernels::cpu
#endif  // HWY_ONCE
