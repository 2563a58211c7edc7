// The choice of sparse attention: see Backend::choose and numerics/index.h.
#pragma once

#include "kernels/cpu/threads.h"
#include "kernels/ops.h"

namespace engine::kernels::cpu {

void choose(std::int32_t* chosen, const LatentRows& kept, const IndexShape& index,
            const ChooseArgs& args, std::size_t rows, Threads& threads);

}  // namespace engine::kernels::cpu
