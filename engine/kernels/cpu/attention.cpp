#include "kernels/cpu/attention.h"

#include "numerics/attention.h"

namespace engine::kernels::cpu {

void attention(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
               std::size_t rows, Threads& threads) {
  const std::size_t Q = heads.query_heads, G = heads.kv_heads, D = heads.head_size;
  const std::size_t cost = args.position * D + rows * D;
  threads.for_range(rows * Q, cost, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t r = i / Q, kv_head = i % Q / (Q / G);
      const std::size_t p = args.position + r;
      const numerics::AttentionRow row{.query = args.query + i * D,
                                       .k = kv.k + kv_head * D,
                                       .v = kv.v + kv_head * D,
                                       .stride = G * D,
                                       .slots = kv.slots,
                                       .head_size = D,
                                       .begin = numerics::visible_begin(p, args.first, args.window),
                                       .end = p + 1};
      if (args.phase == Phase::kDecode) {
        numerics::attention_decode_order(out + i * D, row);
      } else {
        numerics::attention_prefill_order(out + i * D, row);
      }
    }
  });
}

}  // namespace engine::kernels::cpu
