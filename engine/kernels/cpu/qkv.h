// Norm, rotary and the write of K and V rows: see Backend::write_qkv.
#pragma once

#include "kernels/cpu/threads.h"
#include "kernels/ops.h"

namespace engine::kernels::cpu {

void write_qkv(bf16* query, const KvRows& kv, const HeadShape& heads, const QkvArgs& args,
               std::size_t rows, Threads& threads);

}  // namespace engine::kernels::cpu
