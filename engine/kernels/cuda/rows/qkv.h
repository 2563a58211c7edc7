// Norm, rotary and KV rows: see Backend::write_qkv.
#pragma once

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// `advance` is added to the position, where it is not null: see graph.h.
void write_qkv(bf16* query, const KvRows& kv, const HeadShape& heads, const QkvArgs& args,
               std::size_t rows, const int* advance, cudaStream_t stream);

}  // namespace engine::kernels::cuda
