#include "kernels/cuda/attention/attention.h"

#include <algorithm>

#include "kernels/cuda/attention/decode.h"
#include "kernels/cuda/attention/general.h"
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

AttentionProblem make_problem(bf16* out, const KvRows& kv, const HeadShape& heads,
                              const AttentionArgs& args, std::size_t rows, const int* advance) {
  const std::size_t group = heads.query_heads / heads.kv_heads;
  const std::size_t last = (args.position + rows - 1) / kSegmentKeys;
  // A recorded launch is repeated wherever its last row lies in this segment, so it begins where
  // the earliest of those would.
  std::size_t earliest = args.position;
  if (advance != nullptr) {
    const std::size_t ends = last * kSegmentKeys + 1;
    earliest = ends > rows ? ends - rows : 0;
  }
  const std::size_t begin = numerics::visible_begin(earliest, args.first, args.window);
  const std::size_t segment = begin / kSegmentKeys;
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
          .first_segment = narrow(segment),
          .segments = narrow(last - segment + 1)};
}

}  // namespace

void Attention::run(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
                    std::size_t rows, const int* advance, cudaStream_t stream) {
  AttentionProblem p = make_problem(out, kv, heads, args, rows, advance);
  // Within one segment the two orders are the same.
  if (args.phase == Phase::kPrefill || p.segments == 1)
    return launch_for_head(p, args.phase, stream);
  const std::size_t results = rows * heads.query_heads;
  const std::size_t bytes = p.segments * results * (2 + heads.head_size) * sizeof(float);
  if (segments_.empty() || segments_.back().size() < bytes) {
    const std::size_t before = segments_.empty() ? 0 : segments_.back().size();
    segments_.emplace_back(std::max(bytes, 2 * before));
  }
  p.partial = reinterpret_cast<float*>(segments_.back().data());
  launch_for_head(p, args.phase, stream);
  attention_merge(p, stream);
}

}  // namespace engine::kernels::cuda
