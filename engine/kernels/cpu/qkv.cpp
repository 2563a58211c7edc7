#include "kernels/cpu/qkv.h"

#include <algorithm>
#include <cassert>

#include "kernels/cpu/limits.h"
#include "kernels/cpu/rotate.h"
#include "numerics/reduce.h"

namespace engine::kernels::cpu {
namespace {

using numerics::NormKind;

float square_scale(const float* x, std::size_t n, const Norm& norm) {
  if (norm.kind == NormKind::kNone) return 1.0f;
  return numerics::rms_scale(numerics::square_sum(x, n), n, norm.epsilon);
}

void apply_norm(float* out, const float* x, std::size_t n, const Norm& norm, float scale) {
  const numerics::RowStatistics row{0.0f, scale};
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = norm.kind == NormKind::kRms
                 ? numerics::norm_apply<NormKind::kRms>(x[i], row, norm.weight[i], {})
                 : numerics::norm_apply<NormKind::kRmsPlusOne>(x[i], row, norm.weight[i], {});
  }
}

// One head whose norm's scale is known: norm (if any), rotary, bf16.
void write_head(bf16* out, const float* x, const Norm& norm, float scale, std::size_t size,
                std::size_t position, const RotaryTable& rotary) {
  float head[kMaxHeadSize];
  assert(size <= kMaxHeadSize);
  if (norm.kind == NormKind::kNone) {
    std::copy_n(x, size, head);
  } else {
    apply_norm(head, x, size, norm, scale);
  }
  rotate_head(head, position, rotary);
  for (std::size_t i = 0; i < size; ++i)
    out[i] = numerics::from_float(head[i]);
}

// The heads of a row's queries or keys, [heads, size].
void write_heads(bf16* out, const float* x, const Norm& norm, std::size_t heads, std::size_t size,
                 std::size_t position, const QkvArgs& args) {
  const float all = args.whole_width ? square_scale(x, heads * size, norm) : 0.0f;
  for (std::size_t h = 0; h < heads; ++h) {
    const float* head = x + h * size;
    Norm own = norm;
    if (args.whole_width && norm.weight != nullptr) own.weight += h * size;
    const float scale = args.whole_width ? all : square_scale(head, size, norm);
    write_head(out + h * size, head, own, scale, size, position, args.rotary);
  }
}

}  // namespace

void write_qkv(bf16* query, const KvRows& kv, const HeadShape& heads, const QkvArgs& args,
               std::size_t rows, Threads& threads) {
  const std::size_t Q = heads.query_heads, G = heads.kv_heads, D = heads.head_size;
  const std::size_t width = (Q + 2 * G) * D;
  threads.for_range(rows, 8 * width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const float* qkv = args.qkv + r * width;
      const std::size_t position = args.position + r;
      bf16* k = kv.k + position % kv.slots * G * D;
      bf16* v = kv.v + position % kv.slots * G * D;
      write_heads(query + r * Q * D, qkv, args.q_norm, Q, D, position, args);
      write_heads(k, qkv + Q * D, args.k_norm, G, D, position, args);
      const float* values = qkv + (Q + G) * D;
      for (std::size_t i = 0; i < G * D; ++i)
        v[i] = numerics::from_float(values[i]);
    }
  });
}

}  // namespace engine::kernels::cpu
