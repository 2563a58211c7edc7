// Attention of one layer: see Backend::attention and numerics/attention.h.
#pragma once

#include "kernels/cpu/threads.h"
#include "kernels/ops.h"

namespace engine::kernels::cpu {

// `args.phase` chooses the order; row-invariant mode passes kPrefill always.
void attention(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
               std::size_t rows, Threads& threads);

}  // namespace engine::kernels::cpu
