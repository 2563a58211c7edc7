#include "kernels/cpu/attention.h"

#include <algorithm>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention.cpp"
#include <hwy/foreach_target.h>  // must precede highway.h

#include "kernels/cpu/attention_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace engine::kernels::cpu {
namespace HWY_NAMESPACE {

using numerics::kSegmentKeys;

constexpr std::size_t kBlockQueries = 128;  // that share a decoded tile

std::size_t block_cost(const AttentionProblem& problem, std::size_t rows, std::size_t keys) {
  return rows * problem.group() * keys * problem.heads.head_size / 4;
}

void write_out(bf16* out, const float* accumulated, float sum, std::size_t head_size) {
  for (std::size_t d = 0; d < head_size; ++d) {
    out[d] = numerics::from_float(accumulated[d] / sum + 0.0f);
  }
}

void prefill_order(bf16* out, const AttentionProblem& problem, Threads& threads) {
  const std::size_t block_rows = std::max<std::size_t>(1, kBlockQueries / problem.group());
  const std::size_t blocks = (problem.rows + block_rows - 1) / block_rows;
  const std::size_t keys = problem.visible_end(problem.rows - 1) - problem.visible_begin(0);
  const std::size_t cost = block_cost(problem, std::min(block_rows, problem.rows), keys);
  threads.for_range(problem.heads.kv_heads * blocks, cost, [&](std::size_t i, std::size_t end) {
    for (; i < end; ++i) {
      const std::size_t row = i % blocks * block_rows;
      const std::size_t rows = std::min(block_rows, problem.rows - row);
      const AttentionBlock block{i / blocks, row, rows, problem.visible_begin(row),
                                 problem.visible_end(row + rows - 1)};
      const AttentionRun run(problem, block);
      for (std::size_t q = 0; q < run.queries(); ++q) {
        write_out(out + block.query_offset(problem, q), run.out(q), run.sum(q),
                  problem.heads.head_size);
      }
    }
  });
}

// Results of all segments, by segment, then KV head, then query.
class Segments {
 public:
  explicit Segments(const AttentionProblem& problem)
      : problem_(problem),
        first_(problem.visible_begin(0) / kSegmentKeys),
        count_((problem.visible_end(problem.rows - 1) - 1) / kSegmentKeys + 1 - first_),
        queries_(problem.rows * problem.group()),
        head_(problem.heads.head_size),
        maxima_(count_ * problem.heads.kv_heads * queries_),
        sums_(maxima_.size()),
        out_(maxima_.size() * head_) {}

  std::size_t runs() const { return count_ * problem_.heads.kv_heads; }

  void run(std::size_t i) {
    const std::size_t from = (first_ + i / problem_.heads.kv_heads) * kSegmentKeys;
    const AttentionBlock block{
        i % problem_.heads.kv_heads, 0, problem_.rows, std::max(from, problem_.visible_begin(0)),
        std::min(from + kSegmentKeys, problem_.visible_end(problem_.rows - 1))};
    const AttentionRun run(problem_, block);
    for (std::size_t q = 0; q < queries_; ++q) {
      maxima_[i * queries_ + q] = run.maximum(q);
      sums_[i * queries_ + q] = run.sum(q);
      std::copy_n(run.out(q), head_, &out_[(i * queries_ + q) * head_]);
    }
  }

  // Merges the segments in which query q of a KV head sees a key, ascending. The first of them
  // becomes the accumulator.
  void merge(bf16* out, std::size_t kv_head, std::size_t q) {
    const std::size_t row = q / problem_.group();
    const std::size_t begin = problem_.visible_begin(row) / kSegmentKeys - first_;
    const std::size_t end = (problem_.visible_end(row) - 1) / kSegmentKeys + 1 - first_;
    const std::size_t into = index(begin, kv_head, q);
    for (std::size_t s = begin + 1; s < end; ++s)
      merge_one(into, index(s, kv_head, q));
    const AttentionBlock block{kv_head, 0, problem_.rows, 0, 0};
    write_out(out + block.query_offset(problem_, q), &out_[into * head_], sums_[into], head_);
  }

 private:
  std::size_t index(std::size_t segment, std::size_t kv_head, std::size_t q) const {
    return (segment * problem_.heads.kv_heads + kv_head) * queries_ + q;
  }

  void merge_one(std::size_t into, std::size_t from) {
    const float maximum = std::max(maxima_[into], maxima_[from]);
    const float a = numerics::softmax_exp2(maxima_[into] - maximum);
    const float b = numerics::softmax_exp2(maxima_[from] - maximum);
    maxima_[into] = maximum;
    sums_[into] = sums_[into] * a + sums_[from] * b;
    float* x = &out_[into * head_];
    const float* y = &out_[from * head_];
    for (std::size_t d = 0; d < head_; ++d)
      x[d] = x[d] * a + y[d] * b;
  }

  const AttentionProblem& problem_;
  std::size_t first_, count_, queries_, head_;
  std::vector<float> maxima_, sums_, out_;
};

void decode_order(bf16* out, const AttentionProblem& problem, Threads& threads) {
  Segments segments(problem);
  const std::size_t cost = block_cost(problem, problem.rows, kSegmentKeys);
  threads.for_range(segments.runs(), cost, [&](std::size_t i, std::size_t end) {
    for (; i < end; ++i)
      segments.run(i);
  });
  const std::size_t queries = problem.rows * problem.group();
  const std::size_t merge_cost =
      problem.heads.head_size * segments.runs() / problem.heads.kv_heads / 4;
  threads.for_range(queries * problem.heads.kv_heads, merge_cost,
                    [&](std::size_t i, std::size_t end) {
                      for (; i < end; ++i)
                        segments.merge(out, i / queries, i % queries);
                    });
}

void attention_target(bf16* out, const AttentionProblem& problem, Threads& threads) {
  if (problem.args.phase == Phase::kDecode) {
    decode_order(out, problem, threads);
  } else {
    prefill_order(out, problem, threads);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace engine::kernels::cpu {

HWY_EXPORT(attention_target);

void attention(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
               std::size_t rows, Threads& threads) {
  if (rows == 0) return;
  HWY_DYNAMIC_DISPATCH(attention_target)(out, {kv, heads, args, rows}, threads);
}

}  // namespace engine::kernels::cpu
#endif  // HWY_ONCE
