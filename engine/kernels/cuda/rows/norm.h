// Norms of rows.
#pragma once

#include "kernels/cuda/device/driver.h"
#include "kernels/norm_args.h"

namespace engine::kernels::cuda {

void norm(const NormArgs& args, cudaStream_t stream);
void add(const AddArgs& args, cudaStream_t stream);

}  // namespace engine::kernels::cuda
