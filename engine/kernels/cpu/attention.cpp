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
  return rows * problem.group() * keys * (problem.key_size + problem.value_size) / 8;
}

void write_out(bf16* out, const float* accumulated, float sum, std::size_t size) {
  for (std::size_t d = 0; d < size; ++d)
    out[d] = numerics::from_float(accumulated[d] / sum + 0.0f);
}

// The blocks of one KV head: rows that are alike, kBlockQueries queries at a time.
std::vector<AttentionBlock> prefill_blocks(const AttentionProblem& problem) {
  const std::size_t most = std::max<std::size_t>(1, kBlockQueries / problem.group());
  std::vector<AttentionBlock> blocks;
  for (std::size_t row = 0; row < problem.rows; row += blocks.back().rows) {
    const std::size_t rows = std::min(most, problem.alike(row));
    blocks.push_back(
        {0, row, rows, problem.visible_begin(row), problem.visible_end(row + rows - 1)});
  }
  return blocks;
}

void prefill_order(bf16* out, const AttentionProblem& problem, Threads& threads) {
  const std::vector<AttentionBlock> blocks = prefill_blocks(problem);
  const std::size_t keys = problem.visible_end(problem.rows - 1) - problem.visible_begin(0);
  const std::size_t cost = block_cost(problem, blocks[0].rows, keys);
  threads.for_range(problem.kv_heads * blocks.size(), cost, [&](std::size_t i, std::size_t end) {
    for (; i < end; ++i) {
      AttentionBlock block = blocks[i % blocks.size()];
      block.kv_head = i / blocks.size();
      const AttentionRun run(problem, block);
      for (std::size_t q = 0; q < run.queries(); ++q) {
        write_out(out + block.query_index(problem, q) * problem.value_size, run.out(q), run.sum(q),
                  problem.value_size);
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
        size_(problem.value_size),
        maxima_(count_ * problem.kv_heads * queries_),
        sums_(maxima_.size()),
        out_(maxima_.size() * size_) {}

  std::size_t runs() const { return count_ * problem_.kv_heads; }

  void run(std::size_t i) {
    const std::size_t from = (first_ + i / problem_.kv_heads) * kSegmentKeys;
    const AttentionBlock block{
        i % problem_.kv_heads, 0, problem_.rows, std::max(from, problem_.visible_begin(0)),
        std::min(from + kSegmentKeys, problem_.visible_end(problem_.rows - 1))};
    const AttentionRun run(problem_, block);
    for (std::size_t q = 0; q < queries_; ++q) {
      maxima_[i * queries_ + q] = run.maximum(q);
      sums_[i * queries_ + q] = run.sum(q);
      std::copy_n(run.out(q), size_, &out_[(i * queries_ + q) * size_]);
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
    write_out(out + block.query_index(problem_, q) * size_, &out_[into * size_], sums_[into],
              size_);
  }

 private:
  std::size_t index(std::size_t segment, std::size_t kv_head, std::size_t q) const {
    return (segment * problem_.kv_heads + kv_head) * queries_ + q;
  }

  void merge_one(std::size_t into, std::size_t from) {
    const float maximum = std::max(maxima_[into], maxima_[from]);
    const float a = numerics::softmax_exp2(maxima_[into] - maximum);
    const float b = numerics::softmax_exp2(maxima_[from] - maximum);
    maxima_[into] = maximum;
    sums_[into] = sums_[into] * a + sums_[from] * b;
    float* x = &out_[into * size_];
    const float* y = &out_[from * size_];
    for (std::size_t d = 0; d < size_; ++d)
      x[d] = x[d] * a + y[d] * b;
  }

  const AttentionProblem& problem_;
  std::size_t first_, count_, queries_, size_;
  std::vector<float> maxima_, sums_, out_;
};

void merged_segments(bf16* out, const AttentionProblem& problem, Threads& threads) {
  Segments segments(problem);
  const std::size_t cost = block_cost(problem, problem.rows, kSegmentKeys);
  threads.for_range(segments.runs(), cost, [&](std::size_t i, std::size_t end) {
    for (; i < end; ++i)
      segments.run(i);
  });
  const std::size_t queries = problem.rows * problem.group();
  const std::size_t merge_cost = problem.value_size * segments.runs() / problem.kv_heads / 4;
  threads.for_range(queries * problem.kv_heads, merge_cost, [&](std::size_t i, std::size_t end) {
    for (; i < end; ++i)
      segments.merge(out, i / queries, i % queries);
  });
}

void decode_order(bf16* out, const AttentionProblem& problem, Threads& threads) {
  if (problem.alike(0) == problem.rows) return merged_segments(out, problem, threads);
  for (std::size_t row = 0; row < problem.rows; ++row) {
    merged_segments(out + row * problem.query_heads * problem.value_size, problem.one_row(row),
                    threads);
  }
}

void attention_target(bf16* out, const AttentionProblem& problem, Phase phase, Threads& threads) {
  if (phase == Phase::kDecode) {
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
  const AttentionProblem problem{.query = args.query,
                                 .k = kv.k,
                                 .v = kv.v,
                                 .stride = heads.head_size,
                                 .slots = kv.slots,
                                 .query_heads = heads.query_heads,
                                 .kv_heads = heads.kv_heads,
                                 .key_size = heads.head_size,
                                 .value_size = heads.head_size,
                                 .position = args.position,
                                 .first = args.first,
                                 .window = args.window,
                                 .scores = args.scores,
                                 .chosen = nullptr,
                                 .most = 0,
                                 .rows = rows};
  HWY_DYNAMIC_DISPATCH(attention_target)(out, problem, args.phase, threads);
}

void latent_attention(bf16* out, const LatentRows& kept, const LatentShape& shape,
                      const LatentAttentionArgs& args, std::size_t rows, Threads& threads) {
  if (rows == 0) return;
  const AttentionProblem problem{.query = args.query,
                                 .k = kept.latents,
                                 .v = kept.latents,
                                 .stride = shape.key(),
                                 .slots = kept.slots,
                                 .query_heads = shape.heads,
                                 .kv_heads = 1,
                                 .key_size = shape.key(),
                                 .value_size = shape.latent,
                                 .position = args.position,
                                 .first = args.first,
                                 .window = args.window,
                                 .scores = args.scores,
                                 .chosen = args.chosen,
                                 .most = args.most,
                                 .rows = rows};
  HWY_DYNAMIC_DISPATCH(attention_target)(out, problem, args.phase, threads);
}

}  // namespace engine::kernels::cpu
#endif  // HWY_ONCE
