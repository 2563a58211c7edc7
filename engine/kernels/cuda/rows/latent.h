// What latent attention does to each row by itself: see Backend::write_latent and what follows it.
#pragma once

#include "kernels/cuda/device/driver.h"

namespace engine::kernels::cuda {

// `advance` is added to the position, where it is not null: see device/graph.h.
void write_latent(const LowQueries& out, const LatentRows& kept, const LatentShape& shape,
                  const IndexShape& index, const WriteLatentArgs& args, std::size_t rows,
                  const int* advance, cudaStream_t stream);
void write_latent_queries(const LatentQueries& out, const LatentShape& shape,
                          const IndexShape& index, const LatentQueriesArgs& args, std::size_t rows,
                          const int* advance, cudaStream_t stream);

}  // namespace engine::kernels::cuda
