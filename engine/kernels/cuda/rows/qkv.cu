#include "kernels/cuda/device/instructions.cuh"
#include "kernels/cuda/rows/qkv.h"
#include "kernels/cuda/rows/reduce.cuh"
#include "kernels/cuda/rows/rotate.cuh"

namespace engine::kernels::cuda {
namespace {

constexpr unsigned kWarps = 4;  // heads of one block

struct Problem {
  bf16* query;
  KvRows kv;
  HeadShape heads;
  QkvArgs args;
  const int* advance;
};

// ---- Kernels

// Head `index` of a row's `heads` queries or keys at x: norm (if any), rotary, bf16. `all` is the
// first of them.
template <numerics::NormKind kKind>
__device__ void write_head(bf16* out, const float* all, unsigned index, unsigned heads,
                           const Norm& norm, const Problem& p, std::size_t position) {
  const unsigned size = p.heads.head_size;
  const float* x = all + std::size_t{index} * size;
  const bool whole = p.args.whole_width;
  const numerics::RowStatistics row = warp_statistics<kKind>(
      whole ? all : x, whole ? std::size_t{heads} * size : size, norm.epsilon);
  const bf16* weight = whole ? norm.weight + std::size_t{index} * size : norm.weight;
  const auto value = [&](unsigned i) {
    if constexpr (kKind == numerics::NormKind::kNone) return x[i];
    return numerics::norm_apply<kKind>(x[i], row, weight[i], bf16{});
  };
  write_rotated(out, size, position, p.args.rotary, value);
}

__device__ void write_head(bf16* out, const float* all, unsigned index, unsigned heads,
                           const Norm& norm, const Problem& p, std::size_t position) {
  using numerics::NormKind;
  if (norm.kind == NormKind::kNone)
    return write_head<NormKind::kNone>(out, all, index, heads, norm, p, position);
  if (norm.kind == NormKind::kRms)
    return write_head<NormKind::kRms>(out, all, index, heads, norm, p, position);
  write_head<NormKind::kRmsPlusOne>(out, all, index, heads, norm, p, position);
}

// One warp a head; blockIdx.y is the row.
__global__ void __launch_bounds__(kWarps* kWarp) write_qkv_kernel(const Problem p) {
  let_next_begin();
  wait_for_previous();
  const unsigned Q = p.heads.query_heads, G = p.heads.kv_heads, D = p.heads.head_size;
  const unsigned head = blockIdx.x * kWarps + threadIdx.x / kWarp;
  if (head >= Q + 2 * G) return;
  const std::size_t row = blockIdx.y;
  const std::size_t position = advanced(p.args.position, p.advance) + row;
  const std::size_t slot = position % p.kv.slots * G;
  const float* all = p.args.qkv + row * (Q + 2 * G) * D;
  if (head < Q)
    return write_head(p.query + (row * Q + head) * D, all, head, Q, p.args.q_norm, p, position);
  if (head < Q + G) {
    return write_head(p.kv.k + (slot + head - Q) * D, all + std::size_t{Q} * D, head - Q, G,
                      p.args.k_norm, p, position);
  }
  const float* x = all + std::size_t{head} * D;
  bf16* v = p.kv.v + (slot + head - Q - G) * D;
  for (unsigned i = threadIdx.x % kWarp; i < D; i += kWarp)
    v[i] = round_bf16(x[i]);
}

}  // namespace

// ---- Launchers

void write_qkv(bf16* query, const KvRows& kv, const HeadShape& heads, const QkvArgs& args,
               std::size_t rows, const int* advance, cudaStream_t stream) {
  constexpr std::size_t kMostRows = 65535;  // of a grid along y
  const auto blocks =
      static_cast<unsigned>((heads.query_heads + 2 * heads.kv_heads + kWarps - 1) / kWarps);
  const std::size_t width = (heads.query_heads + 2 * heads.kv_heads) * heads.head_size;
  for (std::size_t begin = 0; begin < rows; begin += kMostRows) {
    const std::size_t count = rows - begin < kMostRows ? rows - begin : kMostRows;
    Problem p{query + begin * heads.query_heads * heads.head_size, kv, heads, args, advance};
    p.args.qkv += begin * width;
    p.args.position += begin;
    launch(stream, {.grid = dim3(blocks, static_cast<unsigned>(count)), .threads = kWarps * kWarp},
           write_qkv_kernel, p);
  }
}

}  // namespace engine::kernels::cuda
