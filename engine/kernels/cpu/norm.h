// Norms of rows.
#pragma once

#include "kernels/cpu/threads.h"
#include "kernels/norm_args.h"

namespace engine::kernels::cpu {

void norm(const NormArgs& args, Threads& threads);
void add(const AddArgs& args, Threads& threads);

}  // namespace engine::kernels::cpu
