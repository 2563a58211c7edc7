// Per-head norm, rotary and KV rows: see Backend::write_qkv.
#pragma once

#include "kernels/cuda/driver.h"

namespace engine::kernels::cuda {

void write_qkv(bf16* query, const KvRows& kv, const HeadShape& heads, const QkvArgs& args,
               std::size_t rows, cudaStream_t stream);

}  // namespace engine::kernels::cuda
