// Attention of one layer: see Backend::attention, Backend::latent_attention, numerics/attention.h
// and numerics/latent.h.
#pragma once

#include "kernels/cpu/threads.h"
#include "kernels/ops.h"

namespace engine::kernels::cpu {

// `args.phase` chooses the order; row-invariant mode passes kPrefill always.
void attention(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
               std::size_t rows, Threads& threads);
void latent_attention(bf16* out, const LatentRows& kept, const LatentShape& shape,
                      const LatentAttentionArgs& args, std::size_t rows, Threads& threads);

}  // namespace engine::kernels::cpu
