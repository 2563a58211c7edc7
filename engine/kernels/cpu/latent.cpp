#include "kernels/cpu/latent.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "kernels/cpu/limits.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/rotate.h"
#include "numerics/index.h"

namespace engine::kernels::cpu {
namespace {

using numerics::NormKind;

template <NormKind kKind>
void norm_part(float* out, const float* x, std::size_t n, const Norm& norm) {
  assert(norm.kind == kKind);
  const auto row = numerics::row_statistics<kKind>(x, n, norm.epsilon);
  for (std::size_t i = 0; i < n; ++i) {
    const bf16 bias = kKind == NormKind::kLayer ? norm.bias[i] : bf16{};
    out[i] = numerics::norm_apply<kKind>(x[i], row, norm.weight[i], bias);
  }
}

void round_part(bf16* out, const float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = numerics::from_float(x[i]);
}

// Rotary on the first dimensions of a part, then bf16.
void write_rotated(bf16* out, const float* x, std::size_t n, std::size_t position,
                   const RotaryTable& table) {
  float part[kMaxKeySize];
  assert(n <= kMaxKeySize);
  std::copy_n(x, n, part);
  rotate_head(part, position, table);
  round_part(out, part, n);
}

RotaryTable index_table(const LatentRotary& rotary) {
  RotaryTable table = rotary.table;
  table.interleaved = rotary.index_interleaved;
  return table;
}

void write_index_key(bf16* out, const float* x, const IndexShape& index,
                     const WriteLatentArgs& args, std::size_t position) {
  float key[kMaxKeySize];
  assert(index.size <= kMaxKeySize);
  norm_part<NormKind::kLayer>(key, x, index.size, args.index_norm);
  write_rotated(out, key, index.size, position, index_table(args.rotary));
}

}  // namespace

void write_latent(const LowQueries& out, const LatentRows& kept, const LatentShape& shape,
                  const IndexShape& index, const WriteLatentArgs& args, std::size_t rows,
                  Threads& threads) {
  const std::size_t L = shape.rank, C = shape.latent, B = shape.rotated;
  const std::size_t width = L + C + B + index.size + index.heads;
  const float scale = numerics::index_scale(index.heads, index.size);
  threads.for_range(rows, 4 * width, [&](std::size_t r, std::size_t end) {
    std::vector<float> normed(std::max(L, C));
    for (; r < end; ++r) {
      const float* x = args.projected + r * width;
      const std::size_t position = args.rotary.position + r, slot = position % kept.slots;
      if (L > 0) {
        norm_part<NormKind::kRms>(normed.data(), x, L, args.query_norm);
        round_part(out.query + r * L, normed.data(), L);
      }
      bf16* latent = kept.latents + slot * shape.key();
      norm_part<NormKind::kRms>(normed.data(), x + L, C, args.latent_norm);
      round_part(latent, normed.data(), C);
      write_rotated(latent + C, x + L + C, B, position, args.rotary.table);
      if (index.heads == 0) continue;
      const float* own = x + L + C + B;
      write_index_key(kept.index_keys + slot * index.size, own, index, args, position);
      for (std::size_t j = 0; j < index.heads; ++j)
        out.index_weights[r * index.heads + j] = own[index.size + j] * scale;
    }
  });
}

void write_latent_queries(const LatentQueries& out, const LatentShape& shape,
                          const IndexShape& index, const LatentQueriesArgs& args, std::size_t rows,
                          Threads& threads) {
  const std::size_t Q = shape.heads, J = index.heads, F = index.size;
  const std::size_t width = Q * shape.query() + J * F;
  const RotaryTable narrow = index_table(args.rotary);
  threads.for_range(rows, 2 * width, [&](std::size_t r, std::size_t end) {
    for (; r < end; ++r) {
      const float* x = args.projected + r * width;
      const std::size_t position = args.rotary.position + r;
      for (std::size_t h = r * Q; h < (r + 1) * Q; ++h, x += shape.query()) {
        round_part(out.unrotated + h * shape.unrotated, x, shape.unrotated);
        write_rotated(out.query + h * shape.key() + shape.latent, x + shape.unrotated,
                      shape.rotated, position, args.rotary.table);
      }
      for (std::size_t j = r * J; j < (r + 1) * J; ++j, x += F)
        write_rotated(out.index + j * F, x, F, position, narrow);
    }
  });
}

void matmul_heads(const HeadsArgs& args, Threads& threads) {
  const std::size_t Q = args.w.experts(), N = args.w.outputs(), K = args.w.inner();
  std::vector<bf16> x(args.rows * K);
  std::vector<float> products(args.rows * N);
  for (std::size_t h = 0; h < Q; ++h) {
    for (std::size_t r = 0; r < args.rows; ++r)
      std::copy_n(args.x + (r * Q + h) * args.x_stride, K, &x[r * K]);
    matmul({.out = products.data(),
            .x = x.data(),
            .w = args.w[h],
            .bias = nullptr,
            .rows = args.rows,
            .split = 1,
            .accumulate = false},
           threads);
    for (std::size_t r = 0; r < args.rows; ++r)
      round_part(args.out + (r * Q + h) * args.out_stride, &products[r * N], N);
  }
}

}  // namespace engine::kernels::cpu
