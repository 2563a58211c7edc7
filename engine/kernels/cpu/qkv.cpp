#include "kernels/cpu/qkv.h"

#include <algorithm>
#include <cassert>

#include "kernels/cpu/limits.h"
#include "numerics/reduce.h"
#include "numerics/rotary.h"

namespace engine::kernels::cpu {
namespace {

// One query or key head: norm (if any), rotary, bf16.
void write_head(bf16* out, const float* x, const bf16* norm, std::size_t size, std::size_t position,
                const QkvArgs& args) {
  float head[kMaxHeadSize];
  assert(size <= kMaxHeadSize);
  std::copy_n(x, size, head);
  if (norm != nullptr) {
    const float scale = numerics::rms_scale(numerics::square_sum(x, size), size, args.epsilon);
    for (std::size_t i = 0; i < size; ++i)
      head[i] = numerics::rms_apply(x[i], scale, norm[i]);
  }
  const std::size_t half = args.rotary.rotary_size / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const numerics::RotatedPair pair =
        numerics::rotate(head[i], head[i + half], args.rotary.cosine[position * half + i],
                         args.rotary.sine[position * half + i]);
    head[i] = pair.first;
    head[i + half] = pair.second;
  }
  for (std::size_t i = 0; i < size; ++i)
    out[i] = numerics::from_float(head[i]);
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
      for (std::size_t h = 0; h < Q; ++h) {
        write_head(query + (r * Q + h) * D, qkv + h * D, args.q_norm, D, position, args);
      }
      for (std::size_t h = 0; h < G; ++h) {
        write_head(k + h * D, qkv + (Q + h) * D, args.k_norm, D, position, args);
      }
      const float* values = qkv + (Q + G) * D;
      for (std::size_t i = 0; i < G * D; ++i)
        v[i] = numerics::from_float(values[i]);
    }
  });
}

}  // namespace engine::kernels::cpu
