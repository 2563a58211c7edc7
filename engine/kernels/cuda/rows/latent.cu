#include "kernels/cuda/rows/latent.h"

#include "kernels/cuda/rows/reduce.cuh"
#include "kernels/cuda/rows/rotate.cuh"
#include "numerics/index.h"

namespace engine::kernels::cuda {
namespace {

using numerics::NormKind;

constexpr unsigned kWarps = 4;

// Sizes as the kernels count them: letters as in kernels/latent.h.
struct Sizes {
  unsigned Q, L, C, B, W, J, F;
};

Sizes sizes_of(const LatentShape& shape, const IndexShape& index) {
  return {narrow(shape.heads),     narrow(shape.rank),  narrow(shape.latent), narrow(shape.rotated),
          narrow(shape.unrotated), narrow(index.heads), narrow(index.size)};
}

RotaryTable index_table(const LatentRotary& rotary) {
  RotaryTable table = rotary.table;
  table.interleaved = rotary.index_interleaved;
  return table;
}

struct RowsProblem {
  LowQueries out;
  LatentRows kept;
  Sizes sizes;
  WriteLatentArgs args;
  RotaryTable index_table;
  float index_scale;
  const int* advance;
};

struct QueriesProblem {
  LatentQueries out;
  Sizes sizes;
  LatentQueriesArgs args;
  RotaryTable index_table;
  const int* advance;
};

// ---- Kernels

// out[0, n) = bf16(RMSNorm(x)), by one warp.
__device__ void write_normed(bf16* out, const float* x, unsigned n, const Norm& norm) {
  const auto row = warp_statistics<NormKind::kRms>(x, n, norm.epsilon);
  // Many loads under way at once.
  constexpr unsigned kBatch = 16;
  for (unsigned first = threadIdx.x % kWarp; first < n; first += kBatch * kWarp) {
    float values[kBatch];
    bf16 weights[kBatch];
#pragma unroll
    for (unsigned j = 0; j < kBatch; ++j) {
      const unsigned i = min(first + j * kWarp, n - 1);  // no branch: one load waits for no other
      values[j] = x[i];
      weights[j] = norm.weight[i];
    }
#pragma unroll
    for (unsigned j = 0; j < kBatch; ++j) {
      const unsigned i = first + j * kWarp;
      if (i >= n) continue;
      const float value = numerics::norm_apply<NormKind::kRms>(values[j], row, weights[j], bf16{});
      out[i] = round_bf16(value);
    }
  }
}

__device__ void write_index_key(bf16* out, const float* x, std::size_t position,
                                const RowsProblem& p) {
  const Norm& norm = p.args.index_norm;
  const auto row = warp_statistics<NormKind::kLayer>(x, p.sizes.F, norm.epsilon);
  write_rotated(out, p.sizes.F, position, p.index_table, [&](unsigned i) {
    return numerics::norm_apply<NormKind::kLayer>(x[i], row, norm.weight[i], norm.bias[i]);
  });
}

// One block a row, one warp a part of it.
__global__ void __launch_bounds__(kWarps* kWarp) write_latent_kernel(const RowsProblem p) {
  let_next_begin();
  wait_for_previous();
  const auto [Q, L, C, B, W, J, F] = p.sizes;
  const std::size_t row = blockIdx.x;
  const std::size_t position = advanced(p.args.rotary.position, p.advance) + row;
  const std::size_t slot = position % p.kept.slots;
  const float* x = p.args.projected + row * (L + C + B + F + J);
  const unsigned warp = threadIdx.x / kWarp;
  if (warp == 0 && L > 0) write_normed(p.out.query + row * L, x, L, p.args.query_norm);
  x += L;
  bf16* latent = p.kept.latents + slot * (C + B);
  if (warp == 1) write_normed(latent, x, C, p.args.latent_norm);
  x += C;
  if (warp == 2)
    write_rotated(latent + C, B, position, p.args.rotary.table, [&](unsigned i) { return x[i]; });
  x += B;
  if (warp != 3 || J == 0) return;
  write_index_key(p.kept.index_keys + slot * F, x, position, p);
  for (unsigned j = threadIdx.x % kWarp; j < J; j += kWarp)
    p.out.index_weights[row * J + j] = x[F + j] * p.index_scale;
}

// One warp a head, the indexer's after the others; blockIdx.y is the row.
__global__ void __launch_bounds__(kWarps* kWarp) write_queries_kernel(const QueriesProblem p) {
  let_next_begin();
  wait_for_previous();
  const auto [Q, L, C, B, W, J, F] = p.sizes;
  const unsigned head = blockIdx.x * kWarps + threadIdx.x / kWarp;
  if (head >= Q + J) return;
  const std::size_t row = blockIdx.y;
  const std::size_t position = advanced(p.args.rotary.position, p.advance) + row;
  const float* x = p.args.projected + row * (Q * (W + B) + J * F);
  const auto value = [&](unsigned i) { return x[i]; };
  if (head >= Q) {
    const unsigned j = head - Q;
    x += Q * (W + B) + j * F;
    return write_rotated(p.out.index + (row * J + j) * F, F, position, p.index_table, value);
  }
  x += head * (W + B);
  bf16* unrotated = p.out.unrotated + (row * Q + head) * W;
  for (unsigned i = threadIdx.x % kWarp; i < W; i += kWarp)
    unrotated[i] = round_bf16(x[i]);
  x += W;
  write_rotated(p.out.query + (row * Q + head) * (C + B) + C, B, position, p.args.rotary.table,
                value);
}

}  // namespace

// ---- Launchers

void write_latent(const LowQueries& out, const LatentRows& kept, const LatentShape& shape,
                  const IndexShape& index, const WriteLatentArgs& args, std::size_t rows,
                  const int* advance, cudaStream_t stream) {
  if (rows == 0) return;
  const float scale = index.heads > 0 ? numerics::index_scale(index.heads, index.size) : 0.0f;
  const RowsProblem p{out,   kept,   sizes_of(shape, index), args, index_table(args.rotary),
                      scale, advance};
  launch(stream, {.grid = dim3(narrow(rows)), .threads = kWarps * kWarp}, write_latent_kernel, p);
}

void write_latent_queries(const LatentQueries& out, const LatentShape& shape,
                          const IndexShape& index, const LatentQueriesArgs& args, std::size_t rows,
                          const int* advance, cudaStream_t stream) {
  constexpr std::size_t kMostRows = 65535;  // of a grid along y
  const std::size_t Q = shape.heads, J = index.heads;
  const unsigned blocks = narrow((Q + J + kWarps - 1) / kWarps);
  for (std::size_t begin = 0; begin < rows; begin += kMostRows) {
    const std::size_t count = rows - begin < kMostRows ? rows - begin : kMostRows;
    QueriesProblem p{out, sizes_of(shape, index), args, index_table(args.rotary), advance};
    p.out.unrotated += begin * Q * shape.unrotated;
    p.out.query += begin * Q * shape.key();
    if (J > 0) p.out.index += begin * J * index.size;
    p.args.projected += begin * (Q * shape.query() + J * index.size);
    p.args.rotary.position += begin;
    launch(stream, {.grid = dim3(blocks, narrow(count)), .threads = kWarps * kWarp},
           write_queries_kernel, p);
  }
}

}  // namespace engine::kernels::cuda
