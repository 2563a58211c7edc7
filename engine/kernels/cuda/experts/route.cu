#include <cassert>

#include "kernels/cuda/experts/experts.h"
#include "kernels/cuda/rows/reduce.cuh"

namespace engine::kernels::cuda {
namespace {

using numerics::kMaxChosen;
using numerics::kMaxExperts;
using numerics::RouterRule;
using numerics::RouterScore;

constexpr unsigned kThreads = 256;

// ---- Kernels

struct RowScores {
  float scores[kMaxExperts], values[kMaxExperts];
  float chosen[kMaxChosen];
};

// The bits of numerics::router_scores.
__device__ void score_row(float* scores, const float* logits, const RouterRule& rule) {
  const unsigned lane = threadIdx.x;
  if (rule.score == RouterScore::kSigmoid) {
    for (unsigned e = lane; e < rule.experts; e += kWarp)
      scores[e] = numerics::sigmoid(logits[e]);
    return;
  }
  float largest = __int_as_float(0xff800000);
  for (unsigned e = lane; e < rule.experts; e += kWarp)
    largest = fmaxf(largest, logits[e]);
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, distance));
  float sum = 0.0f;
  for (unsigned e = lane; e < rule.experts; e += kWarp) {
    scores[e] = numerics::exp(logits[e] - largest);
    sum = sum + scores[e];
  }
  sum = warp_tree(sum);
  for (unsigned e = lane; e < rule.experts; e += kWarp)
    scores[e] = scores[e] / sum;
}

__device__ unsigned warp_best_id(std::uint64_t rank) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    const std::uint64_t other =
        __shfl_xor_sync(~0u, static_cast<unsigned long long>(rank), distance);
    rank = other > rank ? other : rank;
  }
  return numerics::ranked_id(rank);
}

// A bit for each group whose experts may be chosen.
__device__ unsigned keep_groups(const float* values, const RouterRule& rule) {
  if (rule.groups == 1) return 1;
  const unsigned lane = threadIdx.x, size = rule.experts / rule.groups;
  std::uint64_t rank = 0;
  if (lane < rule.groups) {
    const float score = numerics::group_score(values + lane * size, size);
    rank = numerics::choice_rank(numerics::choice_key(score), lane);
  }
  unsigned kept = 0;
  for (unsigned i = 0; i < rule.kept_groups; ++i) {
    const unsigned best = warp_best_id(rank);
    kept |= 1u << best;
    if (lane == best) rank = 0;
  }
  return kept;
}

// A warp a row; lane l has the experts l, l + 32, ... The bits of numerics::route_row.
__global__ void __launch_bounds__(kWarp) route_kernel(const Routes out, const RouteArgs args) {
  constexpr unsigned kEach = kMaxExperts / kWarp;
  __shared__ RowScores row;
  let_next_begin();
  wait_for_previous();
  const RouterRule& rule = args.rule;
  const unsigned lane = threadIdx.x;
  score_row(row.scores, args.logits + std::size_t{blockIdx.x} * rule.experts, rule);
  for (unsigned e = lane; e < rule.experts; e += kWarp)
    row.values[e] = args.bias == nullptr ? row.scores[e] : row.scores[e] + args.bias[e];
  __syncwarp();
  const unsigned kept = keep_groups(row.values, rule), size = rule.experts / rule.groups;
  std::uint64_t ranks[kEach];
#pragma unroll
  for (unsigned j = 0; j < kEach; ++j) {
    const unsigned e = j * kWarp + lane;
    const bool eligible = e < rule.experts && (kept >> e / size & 1) != 0;
    ranks[j] = eligible ? numerics::choice_rank(numerics::choice_key(row.values[e]), e) : 0;
  }
  unsigned chosen = 0;  // bit j: the lane's expert j
  for (unsigned t = 0; t < rule.chosen; ++t) {
    std::uint64_t best = 0;
#pragma unroll
    for (unsigned j = 0; j < kEach; ++j)
      best = (chosen >> j & 1) == 0 && ranks[j] > best ? ranks[j] : best;
    const unsigned id = warp_best_id(best);
    if (id % kWarp == lane) chosen |= 1u << id / kWarp;
  }
  const std::size_t first = std::size_t{blockIdx.x} * rule.chosen;
  unsigned count = 0;
  for (unsigned j = 0; j < kEach; ++j) {
    const unsigned ballot = __ballot_sync(~0u, chosen >> j & 1);
    if ((chosen >> j & 1) != 0) {
      const unsigned t = count + __popc(ballot & ((1u << lane) - 1));
      out.experts[first + t] = static_cast<std::int32_t>(j * kWarp + lane);
      row.chosen[t] = row.scores[j * kWarp + lane];
    }
    count += __popc(ballot);
  }
  __syncwarp();
  float sum = 0.0f;
  for (unsigned t = 0; t < rule.chosen; ++t)
    sum = sum + row.chosen[t];
  if (lane < rule.chosen)
    out.weights[first + lane] = numerics::expert_weight(row.chosen[lane], sum, rule);
}

__device__ unsigned block_sum(unsigned value, unsigned* warps) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(~0u, value, distance);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned w = 0; w < kThreads / kWarp; ++w)
    sum += warps[w];
  return sum;
}

// A block an expert. Its pairs come after those of lower experts, in order of rows.
__global__ void __launch_bounds__(kThreads)
    place_kernel(const Routes out, unsigned pairs, unsigned chosen) {
  __shared__ unsigned warps[kThreads / kWarp];
  let_next_begin();
  wait_for_previous();
  const int expert = static_cast<int>(blockIdx.x);
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  unsigned lower = 0;
  for (unsigned i = threadIdx.x; i < pairs; i += kThreads)
    lower += out.experts[i] < expert ? 1 : 0;
  unsigned place = block_sum(lower, warps);
  if (threadIdx.x == 0) {
    out.begins[expert] = static_cast<std::int32_t>(place);
    if (blockIdx.x + 1 == gridDim.x) out.begins[gridDim.x] = static_cast<std::int32_t>(pairs);
  }
  for (unsigned first = 0; first < pairs; first += kThreads) {
    const unsigned i = first + threadIdx.x;
    const bool mine = i < pairs && out.experts[i] == expert;
    const unsigned ballot = __ballot_sync(~0u, mine);
    __syncthreads();
    if (lane == 0) warps[warp] = __popc(ballot);
    __syncthreads();
    unsigned before = __popc(ballot & ((1u << lane) - 1)), all = 0;
    for (unsigned w = 0; w < kThreads / kWarp; ++w) {
      before += w < warp ? warps[w] : 0;
      all += warps[w];
    }
    if (mine) {
      out.places[i] = static_cast<std::int32_t>(place + before);
      out.rows[place + before] = static_cast<std::int32_t>(i / chosen);
    }
    place += all;
  }
}

// A block a place; 16 bytes a thread.
__global__ void __launch_bounds__(kThreads)
    gather_kernel(uint4* out, const uint4* x, const std::int32_t* rows, unsigned pieces) {
  let_next_begin();
  wait_for_previous();
  x += static_cast<std::size_t>(rows[blockIdx.x]) * pieces;
  out += std::size_t{blockIdx.x} * pieces;
  for (unsigned i = threadIdx.x; i < pieces; i += kThreads)
    out[i] = x[i];
}

// blockIdx.x is the row, blockIdx.y a part of it; four elements a thread.
__global__ void __launch_bounds__(kThreads)
    mix_kernel(float4* out, const float4* x, const Routes routes, unsigned chosen,
               unsigned pieces) {
  let_next_begin();
  wait_for_previous();
  const unsigned i = blockIdx.y * kThreads + threadIdx.x;
  if (i >= pieces) return;
  float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (unsigned t = 0; t < chosen; ++t) {
    const std::size_t pair = std::size_t{blockIdx.x} * chosen + t;
    const float weight = routes.weights[pair];
    const float4 value = x[static_cast<std::size_t>(routes.places[pair]) * pieces + i];
    sum.x = numerics::fma(weight, value.x, sum.x);
    sum.y = numerics::fma(weight, value.y, sum.y);
    sum.z = numerics::fma(weight, value.z, sum.z);
    sum.w = numerics::fma(weight, value.w, sum.w);
  }
  out[std::size_t{blockIdx.x} * pieces + i] = sum;
}

}  // namespace

// ---- Launchers

void route(const Routes& out, const RouteArgs& args, std::size_t rows, cudaStream_t stream) {
  assert(args.rule.experts <= kMaxExperts && args.rule.chosen <= kMaxChosen);
  launch(stream, {.grid = dim3(narrow(rows)), .threads = kWarp}, route_kernel, out, args);
  launch(stream, {.grid = dim3(args.rule.experts), .threads = kThreads}, place_kernel, out,
         narrow(rows * args.rule.chosen), args.rule.chosen);
}

void gather(bf16* out, const bf16* x, const RoutedRows& routed, std::size_t hidden,
            cudaStream_t stream) {
  launch(stream, {.grid = dim3(narrow(routed.pairs())), .threads = kThreads}, gather_kernel,
         reinterpret_cast<uint4*>(out), reinterpret_cast<const uint4*>(x), routed.routes.rows,
         narrow(hidden / 8));
}

void mix(float* out, const float* x, const RoutedRows& routed, std::size_t hidden,
         cudaStream_t stream) {
  const unsigned pieces = narrow(hidden / 4), parts = (pieces + kThreads - 1) / kThreads;
  launch(stream, {.grid = dim3(narrow(routed.rows), parts), .threads = kThreads}, mix_kernel,
         reinterpret_cast<float4*>(out), reinterpret_cast<const float4*>(x), routed.routes,
         narrow(routed.chosen), pieces);
}

}  // namespace engine::kernels::cuda
