// What latent attention does around its attention: see Backend::write_latent and what follows it.
#pragma once

#include "kernels/cpu/experts.h"

namespace engine::kernels::cpu {

void write_latent(const LowQueries& out, const LatentRows& kept, const LatentShape& shape,
                  const IndexShape& index, const WriteLatentArgs& args, std::size_t rows,
                  Threads& threads);
void write_latent_queries(const LatentQueries& out, const LatentShape& shape,
                          const IndexShape& index, const LatentQueriesArgs& args, std::size_t rows,
                          Threads& threads);

struct HeadsArgs {
  bf16* out;
  std::size_t out_stride;
  const bf16* x;
  std::size_t x_stride;
  const PanelExperts& w;
  std::size_t rows;
};
void matmul_heads(const HeadsArgs& args, Threads& threads);

}  // namespace engine::kernels::cpu
