#include "kernels/cuda/device.cuh"
#include "kernels/cuda/qkv.h"
#include "kernels/cuda/reduce.cuh"
#include "numerics/rotary.h"

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

// A query or key head: norm (if any), rotary, bf16.
__device__ void write_head(bf16* out, const float* x, const bf16* norm, const Problem& p,
                           std::size_t position) {
  const unsigned size = p.heads.head_size, lane = threadIdx.x % kWarp;
  const unsigned half = p.args.rotary.rotary_size / 2;
  const float scale =
      norm == nullptr ? 0.0f : numerics::rms_scale(warp_square_sum(x, size), size, p.args.epsilon);
  const auto value = [&](unsigned i) {
    return norm == nullptr ? x[i] : numerics::rms_apply(x[i], scale, norm[i]);
  };
  const float* cosine = p.args.rotary.cosine + position * half;
  const float* sine = p.args.rotary.sine + position * half;
  for (unsigned i = lane; i < half; i += kWarp) {
    const numerics::RotatedPair pair =
        numerics::rotate(value(i), value(i + half), cosine[i], sine[i]);
    out[i] = round_bf16(pair.first);
    out[i + half] = round_bf16(pair.second);
  }
  for (unsigned i = 2 * half + lane; i < size; i += kWarp)
    out[i] = round_bf16(value(i));
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
  const float* x = p.args.qkv + (row * (Q + 2 * G) + head) * D;
  if (head < Q) return write_head(p.query + (row * Q + head) * D, x, p.args.q_norm, p, position);
  if (head < Q + G)
    return write_head(p.kv.k + (slot + head - Q) * D, x, p.args.k_norm, p, position);
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
