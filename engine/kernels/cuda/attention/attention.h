// Attention of one layer: see Backend::attention, Backend::latent_attention and
// numerics/attention.h.
#pragma once

#include <vector>

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

struct AttentionProblem;

// Owns the memory in which a decode launch keeps its segments until they are merged.
class Attention {
 public:
  // `args.phase` chooses the order; row-invariant mode passes kPrefill always. `advance` is added
  // to the position of a decode launch, where it is not null: see graph.h. Throws
  // BackendError for heads of more than 256 elements.
  void run(bf16* out, const KvRows& kv, const HeadShape& heads, const AttentionArgs& args,
           std::size_t rows, const int* advance, cudaStream_t stream);
  // The same over kept latents. Throws BackendError for wider ones than attention/latent.h names.
  void run(bf16* out, const LatentRows& kept, const LatentShape& shape,
           const LatentAttentionArgs& args, std::size_t rows, const int* advance,
           cudaStream_t stream);

 private:
  // Whether the problem has more than one segment; gives each its memory.
  bool divide(AttentionProblem& problem, std::size_t value_size);

  // The last one is used; it grows with the longest text seen. A recorded launch may still write to
  // those before.
  std::vector<DeviceMemory> segments_;
};

}  // namespace engine::kernels::cuda
