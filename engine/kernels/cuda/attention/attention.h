// Attention of one layer: see Backend::attention and numerics/attention.h.
#pragma once

#include <vector>

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// Owns the memory in which a decode launch keeps its segments until they are merged.
class Attention {
 public:
  // `args.phase` chooses the order; row-invariant mode passes kPrefill always. `advance` is added
  // to the position of a decode launch, where it is not null: see graph.h. Throws
  // BackendError for heads of more than 256 elements.
  void run(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
           std::size_t rows, const int* advance, cudaStream_t stream);

 private:
  // The last one is used; it grows with the longest text seen. A recorded launch may still write to
  // those before.
  std::vector<DeviceMemory> segments_;
};

}  // namespace engine::kernels::cuda
