// Attention of one layer: see Backend::attention and numerics/attention.h.
#pragma once

#include "kernels/cuda/driver.h"

namespace engine::kernels::cuda {

// Owns the memory in which a decode launch keeps its segments until they are merged.
class Attention {
 public:
  // `args.phase` chooses the order; row-invariant mode passes kPrefill always. Throws BackendError
  // for heads of more than 256 elements.
  void run(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
           std::size_t rows, cudaStream_t stream);

 private:
  DeviceMemory segments_;  // grows with the longest text seen
};

}  // namespace engine::kernels::cuda
