#include "kernels/cuda/attention/attention.h"

#include <algorithm>

#include "kernels/cuda/attention/decode.h"
#include "kernels/cuda/attention/general.h"
#include "kernels/cuda/attention/latent.h"
#include "kernels/cuda/attention/merge.h"
#include "kernels/cuda/attention/prefill.h"
#include "kernels/cuda/attention/problem.cuh"

namespace engine::kernels::cuda {
namespace {

using numerics::kSegmentKeys;

void launch_for_head(const AttentionProblem& p, Phase phase, cudaStream_t stream) {
  const bool capped = p.scores.inner != 0.0f;
  if (!capped && (p.head_size == 64 || p.head_size == 128)) {
    return phase == Phase::kDecode ? attention_decode(p, stream) : attention_prefill(p, stream);
  }
  attention_general(p, stream);
}

// Segments of 256 keys that a launch touches, wherever it is repeated.
struct Segments {
  std::size_t first, count;
};

Segments segments_of(std::size_t position, std::size_t first, std::size_t window, std::size_t rows,
                     const int* advance) {
  const std::size_t last = (position + rows - 1) / kSegmentKeys;
  // A recorded launch is repeated wherever its last row lies in this segment, so it begins where
  // the earliest of those would.
  std::size_t earliest = position;
  if (advance != nullptr) {
    const std::size_t ends = last * kSegmentKeys + 1;
    earliest = ends > rows ? ends - rows : 0;
  }
  const std::size_t begin = numerics::visible_begin(earliest, first, window) / kSegmentKeys;
  return {begin, last - begin + 1};
}

// The same of sets, which are read from their first.
Segments segments_of_sets(std::size_t position, std::size_t most, std::size_t rows,
                          const int* advance) {
  std::size_t last = position + rows - 1;
  if (advance != nullptr) last = last / kSegmentKeys * kSegmentKeys + kSegmentKeys - 1;
  return {0, (numerics::chosen_count(last, most) - 1) / kSegmentKeys + 1};
}

AttentionProblem make_problem(bf16* out, const KvRows& kv, const HeadShape& heads,
                              const AttentionArgs& args, std::size_t rows, const int* advance) {
  const std::size_t group = heads.query_heads / heads.kv_heads;
  const Segments segments = segments_of(args.position, args.first, args.window, rows, advance);
  return {.out = out,
          .query = args.query,
          .k = kv.k,
          .v = kv.v,
          .slots = narrow(kv.slots),
          .query_heads = narrow(heads.query_heads),
          .kv_heads = narrow(heads.kv_heads),
          .head_size = narrow(heads.head_size),
          .group = narrow(group),
          .queries = narrow(rows * group),
          .position = narrow(args.position),
          .first = narrow(args.first),
          .window = args.window,
          .scores = args.scores,
          .advance = advance,
          .partial = nullptr,
          .first_segment = narrow(segments.first),
          .segments = narrow(segments.count)};
}

AttentionProblem make_problem(bf16* out, const LatentRows& kept, const LatentShape& shape,
                              const LatentAttentionArgs& args, std::size_t rows,
                              const int* advance) {
  const KvRows kv{kept.latents, kept.latents, kept.slots};
  const HeadShape heads{shape.heads, 1, shape.key()};
  const AttentionArgs all{args.query,  args.position, args.first,
                          args.window, args.phase,    args.scores};
  AttentionProblem p = make_problem(out, kv, heads, all, rows, advance);
  p.value_size = narrow(shape.latent);
  if (args.chosen == nullptr) return p;
  const Segments segments = segments_of_sets(args.position, args.most, rows, advance);
  p.first_segment = 0;
  p.segments = narrow(segments.count);
  p.chosen = args.chosen;
  p.most = narrow(args.most);
  return p;
}

}  // namespace

bool Attention::divide(AttentionProblem& problem, std::size_t value_size) {
  if (problem.segments == 1) return false;
  const std::size_t results = std::size_t{problem.queries} * problem.kv_heads;
  const std::size_t bytes = problem.segments * results * (2 + value_size) * sizeof(float);
  if (segments_.empty() || segments_.back().size() < bytes) {
    const std::size_t before = segments_.empty() ? 0 : segments_.back().size();
    segments_.emplace_back(std::max(bytes, 2 * before));
  }
  problem.partial = reinterpret_cast<float*>(segments_.back().data());
  return true;
}

// Within one segment the two orders are the same.
void Attention::run(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
                    std::size_t rows, const int* advance, cudaStream_t stream) {
  AttentionProblem p = make_problem(out, kv, heads, args, rows, advance);
  const bool divided = args.phase == Phase::kDecode && divide(p, heads.head_size);
  launch_for_head(p, args.phase, stream);
  if (divided) attention_merge(p, stream);
}

void Attention::run(bf16* out, const LatentRows& kept, const LatentShape& shape,
                    const LatentAttentionArgs& args, std::size_t rows, const int* advance,
                    cudaStream_t stream) {
  if (rows == 0) return;
  AttentionProblem p = make_problem(out, kept, shape, args, rows, advance);
  const bool divided = args.phase == Phase::kDecode && divide(p, shape.latent);
  attention_latent(p, stream);
  if (divided) attention_merge(p, stream);
}

}  // namespace engine::kernels::cuda
