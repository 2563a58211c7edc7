#include "kernels/cuda/attention/merge.h"

namespace engine::kernels::cuda {
namespace {

using numerics::kSegmentKeys;

constexpr unsigned kMostThreads = 512;  // the largest head or latent

// ---- Kernels

// One block a row and query head, one thread a dimension; adds the segments that the row sees,
// ascending. Their maxima have no order, so the factors of every step are known before the steps
// begin, and the first segments are fetched meanwhile.
__global__ void __launch_bounds__(kMostThreads) merge_kernel(const AttentionProblem launched) {
  const AttentionProblem p = advanced(launched);
  constexpr unsigned kHeld = 16;
  extern __shared__ float2 factors[];  // [segments], then the maxima, a float each
  let_next_begin();
  const std::size_t all = gridDim.x, index = blockIdx.x, width = 2 + blockDim.x;
  const unsigned row = static_cast<unsigned>(index / p.query_heads);
  const KeyRange seen = p.value_size != 0 ? visible_latents(p, row) : visible(p, row * p.group);
  const unsigned begin = seen.begin / kSegmentKeys - p.first_segment;
  const unsigned count = (seen.end - 1) / kSegmentKeys - p.first_segment - begin + 1;
  const float* parts = p.partial + (begin * all + index) * width;
  auto* maxima = reinterpret_cast<float*>(factors + count);
  const unsigned d = threadIdx.x;
  wait_for_previous();
  for (unsigned s = d; s < count; s += blockDim.x)
    maxima[s] = parts[s * all * width];
  float sums[kHeld], outs[kHeld];
#pragma unroll
  for (unsigned s = 0; s < kHeld; ++s) {
    if (s >= count) break;
    sums[s] = parts[s * all * width + 1];
    outs[s] = parts[s * all * width + 2 + d];
  }
  __syncthreads();
  for (unsigned s = d; s < count; s += blockDim.x) {
    float before = numerics::kLowestScore;
#pragma unroll 8
    for (unsigned i = 0; i < s; ++i)
      before = fmaxf(before, maxima[i]);
    const float next = fmaxf(before, maxima[s]);
    factors[s] = {numerics::softmax_exp2(before - next), numerics::softmax_exp2(maxima[s] - next)};
  }
  __syncthreads();
  float sum = sums[0], out = outs[0];
  const auto add = [&](unsigned s, float part_sum, float part_out) {
    const float2 factor = factors[s];
    sum = sum * factor.x + part_sum * factor.y;
    out = out * factor.x + part_out * factor.y;
  };
#pragma unroll
  for (unsigned s = 1; s < kHeld; ++s) {
    if (s >= count) break;
    add(s, sums[s], outs[s]);
  }
#pragma unroll 8
  for (unsigned s = kHeld; s < count; ++s)
    add(s, parts[s * all * width + 1], parts[s * all * width + 2 + d]);
  p.out[index * blockDim.x + d] = round_bf16(out / sum + 0.0f);
}

}  // namespace

// ---- Launchers

void attention_merge(const AttentionProblem& problem, cudaStream_t stream) {
  launch(stream,
         {.grid = dim3(problem.queries / problem.group * problem.query_heads),
          .threads = problem.value_size != 0 ? problem.value_size : problem.head_size,
          .shared_bytes = 3 * problem.segments * sizeof(float)},
         merge_kernel, problem);
}

}  // namespace engine::kernels::cuda
